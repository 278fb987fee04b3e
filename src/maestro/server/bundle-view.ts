// A bundle as REST shows it, and what of it can be searched and ordered by.
import type { BundleDocument } from './documents.ts';
import { basePath } from './maestro-error.ts';
import type { Searchable } from './search/compile.ts';

export const bundleFields: readonly string[] = [
  'id',
  'kind',
  'href',
  'name',
  'consumer_name',
  'version',
  'created_at',
  'updated_at',
  'deleted_at',
  'metadata',
  'manifests',
  'manifest_configs',
  'delete_option',
  'status',
];

export const searchableBundles: Searchable = {
  table: 'resources',
  columns: {
    id: { kind: 'text', field: ['id'] },
    name: { kind: 'text', field: ['id'] },
    source: { kind: 'text', field: ['source'] },
    consumer_name: { kind: 'text', field: ['consumerName'] },
    version: { kind: 'number', field: ['version'] },
    created_at: { kind: 'time', field: ['createdAt'] },
    updated_at: { kind: 'time', field: ['updatedAt'] },
    deleted_at: { kind: 'time', field: ['deletedAt'] },
    // The event that brought the spec. Its data are sealed, so that they cannot be searched.
    payload: {
      kind: 'json',
      members: [
        { path: ['metadata', 'labels'], field: ['listed', 'labels'], labels: true },
        { path: ['metadata'], field: ['metadata'] },
        { path: ['source'], field: ['source'] },
        { path: ['id'], field: ['eventId'] },
        { path: ['time'], field: ['eventTime'] },
        { path: ['resourceid'], field: ['id'] },
        { path: ['clustername'], field: ['consumerName'] },
      ],
    },
    status: {
      kind: 'json',
      members: [
        { path: ['data', 'conditions'], field: ['status', 'conditions'] },
        { path: ['sequenceid'], field: ['status', 'sequenceId'] },
        { path: ['resourceversion'], field: ['status', 'version'] },
        { path: ['statushash'], field: ['status', 'hash'] },
        { path: ['source'], field: ['status', 'agent'] },
        { path: [], field: ['status'] },
      ],
    },
  },
};

/** As JSON text: what is kept as text is not parsed on its way out. */
export function bundleJson(body: BundleDocument): string {
  const { id, options, status, createdAt, deletedAt } = body;
  const metadata = {
    ...body.metadata,
    creationTimestamp: seconds(createdAt),
    ...(deletedAt === undefined ? {} : { deletionTimestamp: seconds(deletedAt) }),
  };
  const head = JSON.stringify({
    id,
    kind: 'ResourceBundle',
    href: `${basePath}/resource-bundles/${encodeURIComponent(id)}`,
    name: id,
    consumer_name: body.consumerName,
    version: body.version,
    created_at: createdAt,
    updated_at: body.updatedAt,
    ...(deletedAt === undefined ? {} : { deleted_at: deletedAt }),
    metadata,
    manifest_configs: options.manifestConfigs ?? [],
    delete_option: options.deleteOption ?? {},
  });
  const shown =
    status === undefined
      ? ''
      : `,"status":{"ObservedVersion":${status.version},"SequenceID":${JSON.stringify(status.sequenceId)},` +
        `"conditions":${JSON.stringify(status.conditions)},"resourceStatus":${status.resourceStatus}}`;
  return `${head.slice(0, -1)},"manifests":${body.manifests.reveal()}${shown}}`;
}

/** Kubernetes' times have no fractions. */
function seconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}
