import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { storedObject } from './served.ts';

/** An entry of something that is not stored: a dry run's outcome, or the last state of what an update removed. */
export function previewEntry(type: ResourceType, object: KubeObject, entry: Entry | undefined): Entry {
  const { name = '', namespace = '', uid = '', labels } = object.metadata;
  if (!entry) delete object.metadata.resourceVersion;
  const { apiVersion, kind, metadata, ...rest } = storedObject(type, object);
  return {
    type: type.storage,
    namespace,
    name,
    uid,
    revision: 0,
    bytes: Buffer.from(JSON.stringify({ apiVersion, kind, metadata, ...rest })),
    labels,
    fields: undefined,
    owners: undefined,
  };
}
