// Nothing is created in a namespace that is not there or is being removed; the namespaces of the system stay.
import type { ObjectMeta } from '../object.ts';
import type { Entry, StorageType } from '../objects/objects.ts';
import { forbidden, notFound, StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';

export const namespaceStorage: StorageType = '/namespaces';
const namespaces = { group: '', resource: 'namespaces' };
const permanent = new Set(['default', 'kube-system', 'kube-public']);

interface Reader {
  get(type: StorageType, namespace: string, name: string): Entry | undefined;
}

const mark = '"deletionTimestamp":"';

function isTerminating(entry: Entry): boolean {
  if (!entry.bytes.includes(mark)) return false;
  const { metadata } = JSON.parse(entry.bytes.toString()) as { metadata: ObjectMeta };
  return metadata.deletionTimestamp !== undefined;
}

/** Refuses to create in a namespace that does not exist or ends. */
export function checkNamespace(reader: Reader, type: ResourceType, namespace: string, name: string): void {
  if (!type.namespaced) return;
  const entry = reader.get(namespaceStorage, '', namespace);
  if (!entry) throw notFound(namespaces, namespace);
  if (!isTerminating(entry)) return;
  const error = forbidden(
    { group: type.group, resource: type.plural },
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  throw new StatusError(403, 'Forbidden', error.message, {
    ...error.status.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}

/** Refuses to delete what a cluster is nothing without. */
export function checkNamespaceDelete(type: ResourceType, name: string): void {
  if (type.storage === namespaceStorage && permanent.has(name)) {
    throw forbidden(namespaces, name, 'this namespace may not be deleted');
  }
}
