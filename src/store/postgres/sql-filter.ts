// Filters as SQL conditions on a row of a documents table. A condition may come out NULL where the contract says false: both
// are "not true" to WHERE, AND and OR, and `not` is compiled so that it does not tell them apart either.

import { afterPrefix } from '../after-prefix.ts';
import type { Layout } from '../engine.ts';
import type { Field, Filter, Scalar } from '../filter.ts';
import {
  type Bind,
  boundPlace,
  fieldValue,
  indexedCharacters,
  literalPlace,
  sqlTypes,
  type ValueType,
} from './json-value.ts';

const comparisons = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;
type Comparison = (typeof comparisons)[keyof typeof comparisons];

/** A comparison of beginnings that holds whenever the comparison of the whole strings does; `<>` has none. */
const onBeginnings: Partial<Record<Comparison, string>> = { '=': '=', '<': '<=', '<=': '<=', '>': '>=', '>=': '>=' };

/** Up to this many, each value of `labelIn` is looked up in the index; beyond it, the key is. */
const labelLookups = 20;

/** The condition for WHERE, over the columns partition, id and body of the container's documents. */
export function filterSql(layout: Layout, filter: Filter, bind: Bind): string {
  const inner = (part: Filter) => `(${filterSql(layout, part, bind)})`;
  switch (filter.op) {
    case 'eq':
    case 'ne':
    case 'lt':
    case 'le':
    case 'gt':
    case 'ge':
      return compare(layout, filter.field, comparisons[filter.op], filter.value, bind);
    case 'in':
      return isOneOf(layout, filter.field, filter.values, bind);
    case 'between': {
      const { field, low, high } = filter;
      if (typeof low !== typeof high) return 'FALSE';
      return `${compare(layout, field, '>=', low, bind)} AND ${compare(layout, field, '<=', high, bind)}`;
    }
    case 'prefix': {
      const end = afterPrefix(filter.value);
      const from = compare(layout, filter.field, '>=', filter.value, bind);
      return end === undefined ? from : `${from} AND ${compare(layout, filter.field, '<', end, bind)}`;
    }
    case 'like':
    case 'ilike': {
      const { exact } = fieldValue(layout, filter.field, 'string', bind);
      // Under the collation C, ILIKE folds A to Z and nothing else.
      return `${exact} ${filter.op} ${bind(filter.pattern, 'text')} ESCAPE '\\'`;
    }
    case 'isNull':
      return `coalesce(jsonb_typeof(${boundPlace(filter.field, bind)}), 'null') = 'null'`;
    case 'contains': {
      const { field, value } = filter;
      const place = boundPlace(field, bind);
      // To PostgreSQL an array also contains a scalar that is one of its elements; here a scalar is only equal to itself.
      const operator = typeof value === 'object' && value !== null ? '@>' : '=';
      return `(${place}) ${operator} ${bind(JSON.stringify(value), 'jsonb')}`;
    }
    case 'label':
      return labelled(layout, (labels) => hasPair(labels, filter.key, filter.value, bind));
    case 'labelIn':
      return labelled(layout, (labels) => {
        const { key, values } = filter;
        if (values.length === 0) return 'FALSE';
        if (values.length <= labelLookups) return values.map((value) => hasPair(labels, key, value, bind)).join(' OR ');
        return `${hasKey(labels, key, bind)} AND ${labels} ->> ${bind(key, 'text')} = ANY(${bind(values, 'text[]')})`;
      });
    case 'hasLabel':
      return labelled(layout, (labels) => hasKey(labels, filter.key, bind));
    case 'not':
      return `${inner(filter.filter)} IS NOT TRUE`;
    case 'and':
      return filter.filters.map(inner).join(' AND ') || 'TRUE';
    case 'or':
      return filter.filters.map(inner).join(' OR ') || 'FALSE';
  }
}

function compare(layout: Layout, field: Field, operator: Comparison, value: Scalar, bind: Bind): string {
  // No document holds NaN, and PostgreSQL puts it above all numbers.
  if (Number.isNaN(value)) return 'FALSE';
  const type = typeOf(value);
  const { exact, indexed } = fieldValue(layout, field, type, bind);
  if (exact.startsWith('NULL')) return 'FALSE';
  const bound = bind(value, sqlTypes[type]);
  if (indexed === undefined) return `${exact} ${operator} ${bound}`;
  // A value shorter than what the index holds of a string compares with that as with the whole.
  if (typeof value !== 'string' || Array.from(value).length < indexedCharacters)
    return `${indexed} ${operator} ${bound}`;
  const beginning = onBeginnings[operator];
  const whole = `${exact} ${operator} ${bound}`;
  return beginning === undefined
    ? whole
    : `(${indexed} ${beginning} left(${bound}, ${indexedCharacters}) AND ${whole})`;
}

function isOneOf(layout: Layout, field: Field, values: readonly Scalar[], bind: Bind): string {
  const parts = [...Map.groupBy(values, typeOf)].map(([type, group]) => {
    const { exact, indexed } = fieldValue(layout, field, type, bind);
    if (exact.startsWith('NULL')) return 'FALSE';
    const whole = `${exact} = ANY(${bind(group, `${sqlTypes[type]}[]`)})`;
    if (indexed === undefined) return whole;
    const beginnings = group.map((value) => (typeof value === 'string' ? beginningOf(value) : value));
    return `(${indexed} = ANY(${bind(beginnings, `${sqlTypes[type]}[]`)}) AND ${whole})`;
  });
  return parts.join(' OR ') || 'FALSE';
}

function beginningOf(text: string): string {
  return Array.from(text).slice(0, indexedCharacters).join('');
}

function typeOf(value: Scalar): ValueType {
  return typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'boolean';
}

function labelled(layout: Layout, condition: (labels: string) => string): string {
  return layout.labels === undefined ? 'FALSE' : condition(`(${literalPlace(layout.labels)})`);
}

function hasPair(labels: string, key: string, value: string, bind: Bind): string {
  return `${labels} @> ${bind(JSON.stringify({ [key]: value }), 'jsonb')}`;
}

/** `?` is also true of an array with that string in it, but there `->` finds no member. */
function hasKey(labels: string, key: string, bind: Bind): string {
  const bound = bind(key, 'text');
  return `(${labels} ? ${bound} AND jsonb_typeof(${labels} -> ${bound}) = 'string')`;
}
