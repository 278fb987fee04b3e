// All cases of custom resources, in the order they are recorded.
import type { Case } from './case.ts';
import { resourceCases } from './custom-resources.ts';
import { definitionCases } from './definitions.ts';
import { ruleCostCases } from './rule-costs.ts';
import { ruleCases } from './rules.ts';

export const cases: readonly Case[] = [...definitionCases, ...resourceCases, ...ruleCases, ...ruleCostCases];
