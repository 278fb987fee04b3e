// The list of bundles: those that are not being deleted.
import type { Filter } from '../../store/filter.ts';
import type { Query } from '../../store/store.ts';
import { bundleFields, bundleJson, searchableBundles } from './bundle-view.ts';
import type { BundleDocument, Documents } from './documents.ts';
import type { Listed } from './lists.ts';

export function bundleList({ bundles }: Documents): Listed<BundleDocument> {
  return {
    kind: 'ResourceBundleList',
    container: bundles,
    searchable: searchableBundles,
    fields: bundleFields,
    json: bundleJson,
    narrow: narrowed,
  };
}

const notDeleted: Filter = { op: 'isNull', field: ['deletedAt'] };
/** The same, answered from an index. */
const listed: Filter = { op: 'ge', field: ['listed', 'source'], value: '' };

/**
 * The query that the store answers fastest. A consumer's bundles are one partition; labels and the indexed source are only there while a
 * bundle is not being deleted, so a filter on nothing else needs no further condition and is read straight from its index.
 */
function narrowed(filter: Filter | undefined): Pick<Query, 'partition' | 'filter'> {
  if (filter === undefined) return { filter: listed };
  const parts = filter.op === 'and' ? filter.filters : [filter];
  const consumer = parts.find(isOfConsumer);
  if (consumer !== undefined) {
    const rest = parts.filter((part) => part !== consumer);
    return { partition: consumer.value, filter: { op: 'and', filters: [...rest, notDeleted] } };
  }
  if (filter.op === 'label') return { filter };
  if (isOfSource(filter)) return { filter: { ...filter, field: ['listed', 'source'] } };
  return { filter: { op: 'and', filters: [filter, notDeleted] } };
}

type Equality = Filter & { readonly op: 'eq' | 'ne'; readonly value: string };

function isOfConsumer(filter: Filter): filter is Equality {
  return isTextEquality(filter, 'consumerName') && filter.value !== '';
}

function isOfSource(filter: Filter): filter is Equality {
  return isTextEquality(filter, 'source');
}

function isTextEquality(filter: Filter, field: string): filter is Equality {
  return (
    filter.op === 'eq' &&
    filter.field !== 'id' &&
    filter.field.length === 1 &&
    filter.field[0] === field &&
    typeof filter.value === 'string'
  );
}
