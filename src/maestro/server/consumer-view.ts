// A consumer as REST shows it, and what of it can be searched and ordered by.
import type { ConsumerDocument } from './documents.ts';
import { basePath } from './maestro-error.ts';
import type { Searchable } from './search/compile.ts';

export const consumerFields: readonly string[] = ['id', 'kind', 'href', 'name', 'labels', 'created_at', 'updated_at'];

export const searchableConsumers: Searchable = {
  table: 'consumers',
  columns: {
    id: { kind: 'text', field: ['id'] },
    name: { kind: 'text', field: ['name'] },
    created_at: { kind: 'time', field: ['createdAt'] },
    updated_at: { kind: 'time', field: ['updatedAt'] },
    labels: { kind: 'json', members: [{ path: [], field: ['labels'], labels: true }] },
  },
};

export function consumerJson({ id, name, labels, createdAt, updatedAt }: ConsumerDocument): string {
  return JSON.stringify({
    id,
    kind: 'Consumer',
    href: `${basePath}/consumers/${id}`,
    name,
    labels,
    created_at: createdAt,
    updated_at: updatedAt,
  });
}
