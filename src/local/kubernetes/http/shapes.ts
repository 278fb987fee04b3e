// Objects and lists as the client asked for them: as they are, as a table, or their metadata only.
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import type { ObjectList } from '../registry/registry.ts';
import { apiVersionOf, itemBytes, readObject, servedBytes } from '../registry/served.ts';
import { badRequest, notAcceptable, StatusError } from '../status.ts';
import { metadataAlone } from '../types/metadata-alone.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type Form, objectTypes } from './negotiate.ts';
import type { TableMaker, TableOptions } from './routes.ts';

export interface Shaping {
  readonly form: Form;
  readonly table: TableMaker | undefined;
  readonly includeObject: TableOptions['includeObject'];
  readonly now: number;
}

const included = new Set(['None', 'Metadata', 'Object']);

/** What rows of a table carry of their objects. */
export function includeObject(query: URLSearchParams): TableOptions['includeObject'] {
  const asked = query.get('includeObject');
  if (asked === null || asked === '') return 'Metadata';
  if (!included.has(asked)) {
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  }
  return asked as TableOptions['includeObject'];
}

export function partialMetadata(object: KubeObject, version: Form['version']): object {
  const metadata = metadataAlone(object);
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata };
}

function makeTable(
  { form, table, includeObject, now }: Shaping,
  type: ResourceType,
  objects: readonly KubeObject[],
  metadata: Readonly<Record<string, unknown>>,
  columns = true,
): object {
  if (!table) throw notAcceptable(objectTypes);
  return table(type, objects, { includeObject, version: form.version, metadata, columns, now });
}

/** What stands at an address of an entry of this type, such as its scale, in the form that is wanted. */
export function shapedRelated(shaping: Shaping, type: ResourceType, object: KubeObject): object {
  const { shape, version } = shaping.form;
  return shape === 'object' ? object : shapedJson(shaping, type, object, shape, version);
}

/** JSON of one entry. */
export function shapedObject(shaping: Shaping, type: ResourceType, entry: Entry): Buffer {
  const { shape, version } = shaping.form;
  if (shape === 'object') return servedBytes(type, entry);
  const object = readObject(type, entry);
  return Buffer.from(JSON.stringify(shapedJson(shaping, type, object, shape, version)));
}

function shapedJson(
  shaping: Shaping,
  type: ResourceType,
  object: KubeObject,
  shape: Form['shape'],
  version: Form['version'],
): object {
  if (shape === 'PartialObjectMetadata') return partialMetadata(object, version);
  if (shape === 'Table') {
    return makeTable(shaping, type, [object], { resourceVersion: object.metadata.resourceVersion ?? '' });
  }
  throw new StatusError(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadataList, but the requested object is not a list (*${type.group || 'core'}.${type.kind})`,
  );
}

/** JSON of one event's object; the columns of a table come with the first only. */
export function shapedEventObject(shaping: Shaping, type: ResourceType, entry: Entry, first: boolean): Buffer {
  if (shaping.form.shape !== 'Table') return shapedObject(shaping, type, entry);
  const object = readObject(type, entry);
  const metadata = { resourceVersion: object.metadata.resourceVersion ?? '' };
  return Buffer.from(JSON.stringify(makeTable(shaping, type, [object], metadata, first)));
}

/** JSON of a list. */
export function shapedList(shaping: Shaping, type: ResourceType, list: ObjectList): Buffer {
  const { shape, version } = shaping.form;
  const metadata = {
    resourceVersion: String(list.revision),
    ...(list.continue === undefined
      ? type.custom && shape === 'object'
        ? { continue: '' }
        : {}
      : { continue: list.continue }),
    ...(list.remaining === undefined ? {} : { remainingItemCount: list.remaining }),
  };
  if (shape === 'Table') {
    const objects = list.entries.map((entry) => readObject(type, entry));
    return Buffer.from(JSON.stringify(makeTable(shaping, type, objects, metadata)));
  }
  if (shape === 'PartialObjectMetadata') {
    throw new StatusError(
      406,
      'NotAcceptable',
      `you requested PartialObjectMetadata, but the requested object is a list (*${type.group || 'core'}.${type.listKind})`,
    );
  }
  if (shape !== 'object') {
    const items = list.entries.map((entry) => partialMetadata(readObject(type, entry), version));
    const kind = 'PartialObjectMetadataList';
    return Buffer.from(JSON.stringify({ kind, apiVersion: `meta.k8s.io/${version}`, metadata, items }));
  }
  const head = `{"kind":${JSON.stringify(type.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(type))},"metadata":${JSON.stringify(metadata)},"items":[`;
  return Buffer.concat([Buffer.from(head), itemBytes(type, list.entries), Buffer.from(']}')]);
}
