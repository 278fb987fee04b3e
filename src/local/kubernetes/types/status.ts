// Status on create and update: the user's ways leave it as it was, the status subresource changes nothing else.
import type { JsonObject, KubeObject } from '../object.ts';
import { definitionName, emptyOf } from '../schema/decode.ts';
import { shapeOf } from '../schema/shapes/shape.ts';
import type { Subresource } from './resource-type.ts';

/** The status of an object about which nothing is known yet. */
export function emptyStatus({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): JsonObject {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const status = shapeOf(definitionName(group, version, kind)).find(({ name }) => name === 'status');
  return status?.kind.is === 'struct' ? emptyOf(status.kind.name) : {};
}

/** On create: what the client says of the status is not kept. */
function clearStatus(object: KubeObject): void {
  object.status = emptyStatus(object);
}

/** On update: the status stays. */
export function keepStatus(object: KubeObject, old: KubeObject): void {
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
}

/** The user's part of the metadata, which a change of the status alone leaves as it was. */
function keepLabels(object: KubeObject, old: KubeObject): void {
  if (old.metadata.labels) object.metadata.labels = old.metadata.labels;
  else delete object.metadata.labels;
}

const owned = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** On update of the status: everything else stays. */
export function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  for (const member of Object.keys(object)) if (!owned.has(member)) delete object[member];
  for (const [member, value] of Object.entries(old)) if (!owned.has(member)) object[member] = value;
}

/** The status subresource of most types. */
export const status: Subresource = { kind: 'status', prepareUpdate: keepAllButStatus };

/** The same, where labels do not change with the status either. */
export const statusKeepingLabels: Subresource = {
  kind: 'status',
  prepareUpdate: (object, old) => {
    keepAllButStatus(object, old);
    keepLabels(object, old);
  },
};

/** Clears on create, keeps on update: for types whose status has its own way. */
export const ownStatus = { prepareCreate: clearStatus, prepareUpdate: keepStatus } as const;
