// What filter.ts says, as a program: the reference that every engine's answers are compared with.
import type { Field, Filter, Json, OrderBy } from '../../filter.ts';
import { isObject, valueAt } from '../../paths.ts';

export interface Candidate {
  readonly partition: string;
  readonly id: string;
  readonly body: unknown;
}

/** `labelsAt` is the container's label path. */
export function matches(filter: Filter, document: Candidate, labelsAt: readonly string[] = []): boolean {
  switch (filter.op) {
    case 'eq':
      return fieldOf(document, filter.field) === filter.value;
    case 'ne': {
      const value = fieldOf(document, filter.field);
      return typeof value === typeof filter.value && value !== filter.value;
    }
    case 'in':
      return filter.values.some((value) => fieldOf(document, filter.field) === value);
    case 'lt':
      return compared(document, filter.field, filter.value, (order) => order < 0);
    case 'le':
      return compared(document, filter.field, filter.value, (order) => order <= 0);
    case 'gt':
      return compared(document, filter.field, filter.value, (order) => order > 0);
    case 'ge':
      return compared(document, filter.field, filter.value, (order) => order >= 0);
    case 'between':
      return (
        compared(document, filter.field, filter.low, (order) => order >= 0) &&
        compared(document, filter.field, filter.high, (order) => order <= 0)
      );
    case 'prefix': {
      const value = fieldOf(document, filter.field);
      return typeof value === 'string' && value.startsWith(filter.value);
    }
    case 'like': {
      const value = fieldOf(document, filter.field);
      return typeof value === 'string' && like(value, filter.pattern);
    }
    case 'ilike': {
      const value = fieldOf(document, filter.field);
      return typeof value === 'string' && like(lowered(value), lowered(filter.pattern));
    }
    case 'isNull':
      return (valueAt(document.body, filter.field) ?? null) === null;
    case 'contains':
      return contains(valueAt(document.body, filter.field), filter.value);
    case 'label':
      return labelOf(document, labelsAt, filter.key) === filter.value;
    case 'labelIn':
      return filter.values.some((value) => labelOf(document, labelsAt, filter.key) === value);
    case 'hasLabel':
      return labelOf(document, labelsAt, filter.key) !== undefined;
    case 'not':
      return !matches(filter.filter, document, labelsAt);
    case 'and':
      return filter.filters.every((inner) => matches(inner, document, labelsAt));
    case 'or':
      return filter.filters.some((inner) => matches(inner, document, labelsAt));
  }
}

/** Sorts as a query does: by the orders, then by partition and id. */
export function inOrder(orderBy: readonly OrderBy[]): (one: Candidate, other: Candidate) => number {
  return (one, other) => {
    for (const { field, type, direction } of orderBy) {
      const [first, second] = [fieldOf(one, field), fieldOf(other, field)];
      const [isFirst, isSecond] = [typeof first === type, typeof second === type];
      const order =
        isFirst && isSecond ? compare(first as string, second as string) : Number(isFirst) - Number(isSecond);
      if (order !== 0) return direction === 'descending' ? -order : order;
    }
    return compare(one.partition, other.partition) || compare(one.id, other.id);
  };
}

/** Numbers by size, strings by their UTF-8 bytes. */
export function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number' || typeof other === 'number') return Math.sign(Number(one) - Number(other));
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function fieldOf(document: Candidate, field: Field): unknown {
  return field === 'id' ? document.id : valueAt(document.body, field);
}

function compared(
  document: Candidate,
  field: Field,
  operand: string | number,
  holds: (order: number) => boolean,
): boolean {
  const value = fieldOf(document, field);
  if (typeof value !== typeof operand) return false;
  return holds(compare(value as string | number, operand));
}

function like(text: string, pattern: string): boolean {
  const parts = [...pattern.matchAll(/\\(.)|(%)|(_)|(.)/gsu)].map(([, escaped, run, one, plain]) => {
    if (run !== undefined) return '.*';
    if (one !== undefined) return '.';
    return (escaped ?? plain ?? '').replace(/[\\^$.*+?()[\]{}|/-]/gu, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 'su').test(text);
}

function lowered(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function contains(value: unknown, operand: Json): boolean {
  if (Array.isArray(operand))
    return Array.isArray(value) && operand.every((wanted: Json) => value.some((element) => contains(element, wanted)));
  if (isObject(operand))
    return (
      isObject(value) &&
      Object.entries(operand).every(
        ([name, wanted]) => Object.hasOwn(value, name) && contains(value[name], wanted as Json),
      )
    );
  return value === operand;
}

function labelOf(document: Candidate, labelsAt: readonly string[], key: string): unknown {
  const labels = valueAt(document.body, labelsAt);
  return isObject(labels) && Object.hasOwn(labels, key) ? labels[key] : undefined;
}
