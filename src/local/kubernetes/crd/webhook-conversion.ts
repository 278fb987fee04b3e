// Conversion between versions by a webhook. A stored object's other forms are kept as long as the object itself; those of objects
// that are being written only until they are.
import { createHash, randomUUID } from 'node:crypto';
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import { PendingConversion } from '../registry/pending-conversion.ts';
import { StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** Posts a ConversionReview and gives the text of the answer. Rejects with an error whose message says why it could not. */
export type ConversionCall = (review: { readonly [member: string]: unknown }) => Promise<string>;

/** Converts objects of one version, all at once. Rejects with a StatusError. */
export type Converter = (objects: readonly KubeObject[], apiVersion: string) => Promise<KubeObject[]>;

interface Answer {
  readonly response?: {
    readonly uid?: string;
    readonly result?: { readonly status?: string; readonly message?: string };
    readonly convertedObjects?: readonly KubeObject[];
  };
}

/** What a webhook may change of an object's metadata; the rest stays, whatever it says. */
function withOwnMetadata(converted: KubeObject, original: KubeObject): KubeObject {
  const { labels, annotations } = converted.metadata ?? {};
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata;
  const metadata = { ...kept, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  return { ...converted, metadata };
}

function convertedObjects(text: string, uid: string, objects: readonly KubeObject[], apiVersion: string): KubeObject[] {
  const { response } = JSON.parse(text) as Answer;
  if (!response) throw new Error('the response was absent');
  if (response.uid !== uid)
    throw new Error(`response.uid ${JSON.stringify(response.uid ?? '')} is not that of the request`);
  if (response.result?.status !== 'Success') throw new Error(response.result?.message || 'no reason was given');
  const converted = response.convertedObjects ?? [];
  if (converted.length !== objects.length) {
    throw new Error(`expected ${objects.length} converted objects, got ${converted.length}`);
  }
  return objects.map((original, index) => {
    const made = converted[index];
    if (made?.apiVersion !== apiVersion || made.kind !== original.kind) {
      throw new Error(`invalid converted object at index ${index}: expected ${apiVersion}, got ${made?.apiVersion}`);
    }
    if (made.metadata?.name !== original.metadata.name) {
      throw new Error(`invalid converted object at index ${index}: metadata.name was changed`);
    }
    return withOwnMetadata(made, original);
  });
}

/** A converter that asks a webhook in the version v1 of the review. */
export function reviewConverter(call: ConversionCall): Converter {
  return async (objects, apiVersion) => {
    const uid = randomUUID();
    const [first] = objects;
    if (!first) return [];
    try {
      const text = await call({
        kind: 'ConversionReview',
        apiVersion: 'apiextensions.k8s.io/v1',
        request: { uid, desiredAPIVersion: apiVersion, objects },
      });
      return convertedObjects(text, uid, objects, apiVersion);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new StatusError(
        500,
        'InternalError',
        `conversion webhook for ${first.apiVersion}, Kind=${first.kind} failed: ${why}`,
      );
    }
  };
}

/** What a conversion depends on: all but what the server itself has to say. */
function contentKey({ metadata, ...rest }: KubeObject, apiVersion: string): string {
  const { name, namespace, labels, annotations } = metadata;
  return createHash('sha256')
    .update(JSON.stringify([apiVersion, rest, name, namespace, labels, annotations]))
    .digest('base64');
}

/** How many conversions of objects that are being written are kept. */
const mostRecent = 200;

/** Both ways between the version stored and one served, by a webhook. */
export function webhookConversion(
  served: string,
  stored: string,
  convert: Converter,
): NonNullable<ResourceType['convert']> {
  const ofEntries = new WeakMap<Entry, KubeObject>();
  const recent = new Map<string, KubeObject>();

  function keep(key: string, object: KubeObject): void {
    recent.set(key, object);
    const [oldest] = recent.keys();
    if (recent.size > mostRecent && oldest !== undefined) recent.delete(oldest);
  }

  const found = (object: KubeObject, apiVersion: string): KubeObject | undefined => {
    const known = recent.get(contentKey(object, apiVersion));
    return known && withOwnMetadata(structuredClone(known), object);
  };

  async function fetchEntries(missing: readonly (readonly [Entry, KubeObject])[]): Promise<void> {
    const byVersion = Map.groupBy(missing, ([, object]) => object.apiVersion);
    for (const group of byVersion.values()) {
      const made = await convert(
        group.map(([, object]) => object),
        served,
      );
      group.forEach(([entry], index) => {
        const object = made[index];
        if (object) ofEntries.set(entry, object);
      });
    }
  }

  /** What is written is answered in the version it came in, so the way back is gone at once. */
  async function fetchBothWays(object: KubeObject): Promise<void> {
    const [there] = await convert([object], stored);
    if (!there) return;
    keep(contentKey(object, stored), there);
    const [back] = await convert([there], served);
    if (back) keep(contentKey(there, served), back);
  }

  const parse = ({ bytes }: Entry): KubeObject => JSON.parse(bytes.toString()) as KubeObject;

  return {
    toServed(object, entry) {
      if (object.apiVersion === served) return object;
      const known = entry && ofEntries.get(entry);
      const made = known ? structuredClone(known) : found(object, served);
      if (made) return made;
      throw new PendingConversion(
        entry
          ? fetchEntries([[entry, object]])
          : convert([object], served).then(([back]) => {
              if (back) keep(contentKey(object, served), back);
            }),
      );
    },
    toStored(object) {
      if (served === stored) return object;
      const made = found(object, stored);
      if (made) return made;
      throw new PendingConversion(fetchBothWays(structuredClone(object)));
    },
    ready(entries) {
      const missing = entries
        .filter((entry) => !ofEntries.has(entry))
        .map((entry) => [entry, parse(entry)] as const)
        .filter(([, object]) => object.apiVersion !== served);
      return missing.length === 0 ? undefined : fetchEntries(missing);
    },
  };
}
