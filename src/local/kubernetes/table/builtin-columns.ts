// Which columns a built-in type has.
import type { Column } from '../types/resource-type.ts';
import { plainColumns } from './columns.ts';
import { coreColumns } from './core-columns.ts';
import { groupColumns } from './group-columns.ts';

export const builtinColumns = (group: string, plural: string): readonly Column[] =>
  (group === '' ? coreColumns[plural] : groupColumns[`${group}/${plural}`]) ?? plainColumns;
