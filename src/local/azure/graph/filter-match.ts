// Whether an object fits a filter. Texts compare in any case, as in the directory.
import { isRecord } from '../../../arm/record.ts';
import type { Comparison, FieldPath, Filter, Literal, TextTest } from './filter.ts';

/** What `any` has named so far. */
type Elements = ReadonlyMap<string, unknown>;

const none: Elements = new Map();

export function matches(filter: Filter, object: unknown, elements: Elements = none): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => matches(one, object, elements));
    case 'or':
      return filter.filters.some((one) => matches(one, object, elements));
    case 'not':
      return !matches(filter.filter, object, elements);
    case 'in': {
      const value = valueAt(filter.field, object, elements);
      return filter.values.some((one) => compares('eq', value, one));
    }
    case 'any': {
      const list = valueAt(filter.field, object, elements);
      if (!Array.isArray(list)) return false;
      const { filter: inner, element } = filter;
      return inner === undefined
        ? list.length > 0
        : list.some((one) => matches(inner, object, new Map([...elements, [element, one]])));
    }
    case 'startswith':
    case 'endswith':
    case 'contains':
      return textFits(filter.op, valueAt(filter.field, object, elements), filter.value);
    default:
      return compares(filter.op, valueAt(filter.field, object, elements), filter.value);
  }
}

/** The properties of the object that a filter looks at, without those of elements. */
export function fieldsOf(filter: Filter, elements: readonly string[] = []): readonly string[] {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.filters.flatMap((one) => fieldsOf(one, elements));
    case 'not':
      return fieldsOf(filter.filter, elements);
    case 'any':
      return [
        ...firstOf(filter.field, elements),
        ...(filter.filter ? fieldsOf(filter.filter, [...elements, filter.element]) : []),
      ];
    default:
      return firstOf(filter.field, elements);
  }
}

/** Whether only the eventually consistent index answers it. */
export function isAdvanced(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.filters.some(isAdvanced);
    case 'any':
      return filter.filter !== undefined && isAdvanced(filter.filter);
    default:
      return filter.op === 'not' || filter.op === 'ne' || filter.op === 'endswith' || filter.op === 'contains';
  }
}

function firstOf(field: FieldPath, elements: readonly string[]): readonly string[] {
  const [first] = field;
  return first === undefined || elements.includes(first) ? [] : [first];
}

function valueAt(field: FieldPath, object: unknown, elements: Elements): unknown {
  const [first = ''] = field;
  const inElement = elements.has(first);
  let value = inElement ? elements.get(first) : object;
  for (const member of inElement ? field.slice(1) : field) {
    value = isRecord(value) && Object.hasOwn(value, member) ? value[member] : undefined;
  }
  return value;
}

const orders: Readonly<Record<Comparison, (order: number) => boolean>> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
};

function compares(op: Comparison, value: unknown, wanted: Literal): boolean {
  const given = value ?? null;
  if (given === null || wanted === null || typeof given !== typeof wanted) {
    return op === 'ne' ? given !== wanted : op === 'eq' && given === wanted;
  }
  const [left, right] = [given, wanted].map((one) => (typeof one === 'string' ? one.toLowerCase() : one));
  if (left === right) return orders[op](0);
  return orders[op]((left as string) < (right as string) ? -1 : 1);
}

function textFits(op: TextTest, value: unknown, wanted: string): boolean {
  if (typeof value !== 'string') return false;
  const [text, part] = [value.toLowerCase(), wanted.toLowerCase()];
  return op === 'startswith' ? text.startsWith(part) : op === 'endswith' ? text.endsWith(part) : text.includes(part);
}
