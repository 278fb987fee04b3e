// All functions whose value depends on nothing but their arguments, by name in lower case.
import type { FunctionTable } from '../environment.ts';
import { addressFunctions } from './addresses.ts';
import { collectionFunctions } from './collections.ts';
import { dateFunctions } from './dates.ts';
import { encodingFunctions } from './encodings.ts';
import { hashFunctions } from './hashes.ts';
import { lambdaFunctions } from './lambdas.ts';
import { logicalFunctions } from './logical.ts';
import { numericFunctions } from './numeric.ts';
import { stringFunctions } from './strings.ts';

export const pureFunctions: FunctionTable = {
  ...logicalFunctions,
  ...numericFunctions,
  ...stringFunctions,
  ...collectionFunctions,
  ...lambdaFunctions,
  ...encodingFunctions,
  ...hashFunctions,
  ...dateFunctions,
  ...addressFunctions,
};
