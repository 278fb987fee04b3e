// All functions that expressions have, in one table made once.
import { addressFunctions } from './functions/addresses.ts';
import { listFunctions } from './functions/lists.ts';
import { formatFunctions } from './functions/named-formats.ts';
import { operators } from './functions/operators.ts';
import { quantityFunctions } from './functions/quantities.ts';
import { stringFunctions } from './functions/strings.ts';
import { timeFunctions } from './functions/times.ts';
import { urlFunctions } from './functions/urls.ts';
import { type Declaration, type Functions, functionTable } from './overloads.ts';

const everywhere: readonly Declaration[] = [
  ...operators,
  ...stringFunctions,
  ...listFunctions,
  ...timeFunctions,
  ...urlFunctions,
  ...addressFunctions,
  ...quantityFunctions,
  ...formatFunctions,
];

export const kubernetesFunctions: Functions = functionTable(everywhere);

/** The same with more, such as those of admission policies. */
export const functionsWith = (more: readonly Declaration[]): Functions => functionTable([...everywhere, ...more]);
