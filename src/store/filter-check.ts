// Filters and orders come in part from users (search grammars), so everything about them is checked before an engine sees
// it: shape, operand types, size and depth. Errors name the place in the filter, never the value.
import { StoreError } from './errors.ts';
import type { Filter, OrderBy, Path } from './filter.ts';
import { typeName } from './keys.ts';
import { checkPath, isObject } from './paths.ts';
import { operandReachesSealed, reachesSealed } from './sealing.ts';

const maxConditions = 1000;
const maxDepth = 50;
/** Of a containment operand: each level nests the statement that asks for it, and SQLite takes only so many. */
const maxContainedDepth = 16;
const maxListValues = 1000;
/** In all lists and containment operands of a filter together. */
const maxValues = 10_000;
const maxTextLength = 262_144;
const maxPatternLength = 4096;
const maxOrders = 8;

/** What the container says about its fields. */
export interface Searchable {
  readonly name: string;
  readonly labels: boolean;
  readonly sealed: readonly Path[];
}

interface Check {
  readonly container: Searchable;
  conditions: number;
  values: number;
  textLength: number;
}

export function checkFilter(container: Searchable, filter: unknown): asserts filter is Filter {
  checkNode({ container, conditions: 0, values: 0, textLength: 0 }, filter, 'filter', 1);
}

export function checkOrder(container: Searchable, orderBy: unknown): asserts orderBy is readonly OrderBy[] {
  if (!Array.isArray(orderBy)) throw invalid(`orderBy must be a list, not ${typeName(orderBy)}`);
  if (orderBy.length > maxOrders) throw invalid(`orderBy has over ${maxOrders} entries`);
  for (const [at, order] of orderBy.entries()) {
    const where = `orderBy[${at}]`;
    if (!isObject(order)) throw invalid(`${where} must be an object, not ${typeName(order)}`);
    checkField(container, order.field, `${where}.field`);
    if (order.type !== 'string' && order.type !== 'number') throw invalid(`${where}.type must be string or number`);
    const { direction } = order;
    if (direction !== undefined && direction !== 'ascending' && direction !== 'descending')
      throw invalid(`${where}.direction must be ascending or descending`);
  }
}

type NodeCheck = (check: Check, node: Record<string, unknown>, where: string, depth: number) => void;

const scalars: readonly string[] = ['string', 'number', 'boolean'];
const ordered: readonly string[] = ['string', 'number'];

const compared =
  (types: readonly string[]): NodeCheck =>
  (check, node, where) => {
    checkField(check.container, node.field, `${where}.field`);
    checkOperand(check, node.value, `${where}.value`, types);
  };

const pattern: NodeCheck = (check, node, where) => {
  checkField(check.container, node.field, `${where}.field`);
  const value = node.pattern;
  checkOperand(check, value, `${where}.pattern`, ['string']);
  if (String(value).length > maxPatternLength)
    throw invalid(`${where}.pattern is longer than ${maxPatternLength} characters`);
  if (/(?<!\\)(?:\\\\)*\\$/.test(String(value)))
    throw invalid(`${where}.pattern ends in a backslash that takes nothing literally: write two for one`);
};

const combined: NodeCheck = (check, node, where, depth) => {
  const { filters } = node;
  if (!Array.isArray(filters)) throw invalid(`${where}.filters must be a list, not ${typeName(filters)}`);
  for (const [at, inner] of filters.entries()) checkNode(check, inner, `${where}.filters[${at}]`, depth + 1);
};

const labelled =
  (operand: 'value' | 'values' | undefined): NodeCheck =>
  (check, node, where) => {
    if (!check.container.labels) throw invalid(`${where}: container ${check.container.name} declares no labels`);
    checkOperand(check, node.key, `${where}.key`, ['string']);
    if (operand === 'value') checkOperand(check, node.value, `${where}.value`, ['string']);
    if (operand === 'values') checkList(check, node.values, `${where}.values`, ['string']);
  };

const checks: Readonly<Record<Filter['op'], NodeCheck>> = {
  eq: compared(scalars),
  ne: compared(scalars),
  in(check, node, where) {
    checkField(check.container, node.field, `${where}.field`);
    checkList(check, node.values, `${where}.values`, scalars);
  },
  lt: compared(ordered),
  le: compared(ordered),
  gt: compared(ordered),
  ge: compared(ordered),
  between(check, node, where) {
    checkField(check.container, node.field, `${where}.field`);
    checkOperand(check, node.low, `${where}.low`, ordered);
    checkOperand(check, node.high, `${where}.high`, [typeof node.low]);
  },
  prefix: compared(['string']),
  like: pattern,
  ilike: pattern,
  isNull(check, node, where) {
    checkPath(`${where}.field`, node.field);
    refuseSealed(check.container, node.field, `${where}.field`);
  },
  contains(check, node, where) {
    const { field, value } = node;
    const whole = Array.isArray(field) && field.length === 0;
    if (!whole) checkPath(`${where}.field`, field);
    checkJson(check, value, `${where}.value`, 1);
    const path: Path = Array.isArray(field) ? field : [];
    if (operandReachesSealed(check.container.sealed, path, value))
      throw invalid(`${where} asks about a sealed path, which cannot be searched`);
  },
  label: labelled('value'),
  labelIn: labelled('values'),
  hasLabel: labelled(undefined),
  not(check, node, where, depth) {
    checkNode(check, node.filter, `${where}.filter`, depth + 1);
  },
  and: combined,
  or: combined,
};

function checkNode(check: Check, node: unknown, where: string, depth: number): void {
  if (!isObject(node)) throw invalid(`${where} must be an object, not ${typeName(node)}`);
  if (++check.conditions > maxConditions) throw invalid(`the filter has over ${maxConditions} conditions`);
  if (depth > maxDepth) throw invalid(`the filter is nested deeper than ${maxDepth} levels`);
  const { op } = node;
  if (typeof op !== 'string' || !Object.hasOwn(checks, op))
    throw invalid(`${where}.op must be one of ${Object.keys(checks).join(', ')}`);
  checks[op as Filter['op']](check, node, where, depth);
}

function checkField(container: Searchable, field: unknown, where: string): void {
  if (field === 'id') return;
  if (!Array.isArray(field)) throw invalid(`${where} must be a path or 'id', not ${typeName(field)}`);
  checkPath(where, field);
  refuseSealed(container, field, where);
}

function refuseSealed(container: Searchable, path: Path, where: string): void {
  if (reachesSealed(container.sealed, path)) throw invalid(`${where} is a sealed path, which cannot be searched`);
}

function checkList(check: Check, values: unknown, where: string, types: readonly string[]): void {
  if (!Array.isArray(values)) throw invalid(`${where} must be a list, not ${typeName(values)}`);
  if (values.length > maxListValues) throw invalid(`${where} has over ${maxListValues} values`);
  for (const [at, value] of values.entries()) checkOperand(check, value, `${where}[${at}]`, types);
}

function checkOperand(check: Check, value: unknown, where: string, types: readonly string[]): void {
  if (++check.values > maxValues) throw invalid(`the filter has over ${maxValues} values`);
  if (!types.includes(typeof value)) throw invalid(`${where} must be a ${types.join(' or ')}, not ${typeName(value)}`);
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(`${where} must be a finite number`);
  if (typeof value === 'string') checkText(check, value, where);
}

function checkText(check: Check, text: string, where: string): void {
  check.textLength += text.length;
  if (check.textLength > maxTextLength) throw invalid(`the filter's texts are longer than ${maxTextLength} characters`);
  if (text.includes('\0') || !text.isWellFormed())
    throw invalid(`${where} has a NUL character or a broken surrogate pair in it`);
}

function checkJson(check: Check, value: unknown, where: string, depth: number): void {
  if (depth > maxContainedDepth)
    throw invalid(`${where.split('[')[0]} is nested deeper than ${maxContainedDepth} levels`);
  if (value === null) {
    check.values++;
  } else if (Array.isArray(value)) {
    check.values++;
    for (const [at, element] of value.entries()) checkJson(check, element, `${where}[${at}]`, depth + 1);
  } else if (isObject(value)) {
    check.values++;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) throw invalid(`${where} must be plain JSON`);
    for (const [name, member] of Object.entries(value)) {
      checkText(check, name, `${where}: a member name`);
      checkJson(check, member, `${where}: a member`, depth + 1);
    }
  } else {
    checkOperand(check, value, where, scalars);
  }
  if (check.values > maxValues) throw invalid(`the filter has over ${maxValues} values`);
}

function invalid(message: string): StoreError {
  return new StoreError('Invalid', message);
}
