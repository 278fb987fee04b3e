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
 * The query that the store answers fastest. What is in `listed` is only there while a bundle is not being deleted, so a filter on one of
 * its indexes needs no further condition and is read straight from the index.
 */
function narrowed(filter: Filter | undefined): Pick<Query, 'filter'> {
  if (filter === undefined) return { filter: listed };
  if (filter.op === 'label') return { filter };
  if (filter.op === 'eq') {
    const field = filter.field === 'id' ? undefined : listedFields.get(filter.field.join('.'));
    if (field !== undefined) return { filter: { ...filter, field } };
  }
  return { filter: { op: 'and', filters: [filter, notDeleted] } };
}

const listedFields: ReadonlyMap<string, readonly string[]> = new Map([
  ['source', ['listed', 'source']],
  ['consumerName', ['listed', 'consumerName']],
]);
