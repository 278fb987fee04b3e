import { setImmediate } from 'node:timers/promises';
import type { KeyRing } from '../kit/key-ring.ts';
import type { Row } from './engine.ts';
import { StoreError } from './errors.ts';
import { etagOf } from './etag.ts';
import type { Path } from './filter.ts';
import { serialise } from './json.ts';
import { checkKeyPart, typeName } from './keys.ts';
import { isObject, valueAt } from './paths.ts';
import { type Shape, shapeOf } from './schema-shape.ts';
import { type Sealing, sealing } from './sealing.ts';
import type { ContainerSpec, Document, Key, Version } from './store.ts';
import { carryUnknown } from './unknown-fields.ts';

type Labels = readonly (readonly [key: string, value: string])[];

export interface Encoded {
  readonly json: string;
  readonly labels: Labels;
  readonly queue: string | undefined;
}

/** Between the bodies that services see and the texts that engines keep, for one container. */
export interface Codec<T> {
  /** `stored` is the text this body takes the place of, when the container carries unknown fields over. */
  encode(key: Key, body: T, stored?: string): Encoded;
  /** Throws Seal. */
  decode(row: Row): Document<T>;
  /** The document that a write made of the caller's body. */
  written(key: Key, revision: number, body: T, json: string, expiresAt: number | undefined): Document<T>;
  /** Whether a replace must know the text it takes the place of. */
  readonly carries: boolean;
  /** That text, when the version is a document that this codec made. */
  storedText(version: Version): string | undefined;
  readonly sealing: Sealing | undefined;
}

const noLabels: Labels = [];

export function codec<T>(spec: ContainerSpec<T>, ring: KeyRing | undefined): Codec<T> {
  const { name, labels, queue, schema } = spec;
  const seals = ring && spec.sealed && spec.sealed.length > 0 ? sealing(name, spec.sealed, ring) : undefined;
  const shape: Shape | undefined = schema && shapeOf(schema);
  // The texts as stored, apart from the bodies, which callers may change in place.
  const texts = new WeakMap<Version, string>();

  const document = (row: Omit<Row, 'json' | 'expiresAt'>, body: T, expiresAt: number | undefined): Document<T> => {
    const { partition, id, revision } = row;
    return expiresAt === undefined
      ? { partition, id, etag: etagOf(revision), revision, body }
      : { partition, id, etag: etagOf(revision), revision, expiresAt, body };
  };
  const remember = (made: Document<T>, json: string): Document<T> => {
    if (shape) texts.set(made, json);
    return made;
  };

  return {
    carries: shape !== undefined,
    sealing: seals,
    storedText: (version) => texts.get(version),
    encode(key, body, stored) {
      const what = () => `container ${name}, document ${key.partition}/${key.id}`;
      let tree: unknown = seals ? seals.seal(key, body) : body;
      if (shape && stored !== undefined) tree = carryUnknown(shape, JSON.parse(stored), tree);
      const json = serialise(what, tree);
      return {
        json,
        labels: labels ? labelsOf(what, tree, labels) : noLabels,
        queue: queue ? fairnessKey(what, queue(body)) : undefined,
      };
    },
    decode(row) {
      const body: T = parsed(row);
      seals?.open(row, body);
      return remember(document(row, body, row.expiresAt), row.json);
    },
    written: (key, revision, body, json, expiresAt) =>
      remember(document({ partition: key.partition, id: key.id, revision }, body, expiresAt), json),
  };
}

/** Characters of JSON parsed in one go: a few milliseconds' worth, so that other work gets its turn. */
export const decodeStride = 262_144;

/** Decodes many rows, giving way to other work in between. */
export async function decodeAll<T>(decode: (row: Row) => Document<T>, rows: readonly Row[]): Promise<Document<T>[]> {
  const documents: Document<T>[] = [];
  let length = 0;
  for (const row of rows) {
    if (length > decodeStride) {
      await setImmediate();
      length = 0;
    }
    length += row.json.length;
    documents.push(decode(row));
  }
  return documents;
}

/** The parser's own error would show a piece of the text. */
function parsed({ partition, id, json }: Row) {
  try {
    return JSON.parse(json);
  } catch {
    throw new StoreError(
      'Corrupt',
      `document ${partition}/${id} is stored as a text that is not JSON: restore a backup`,
    );
  }
}

function labelsOf(what: () => string, body: unknown, path: Path): Labels {
  const labels = valueAt(body, path);
  if (labels === undefined || labels === null) return noLabels;
  const where = () => `${what()}: labels (${path.join('.')})`;
  if (!isObject(labels)) throw new StoreError('Invalid', `${where()} must be an object, not ${typeName(labels)}`);
  const pairs: [string, string][] = [];
  for (const [key, value] of Object.entries(labels)) {
    if (value === undefined) continue;
    if (typeof value !== 'string')
      throw new StoreError('Invalid', `${where()}: every member must be a string, one is ${typeName(value)}`);
    pairs.push([key, value]);
  }
  return pairs;
}

function fairnessKey(what: () => string, key: unknown): string | undefined {
  if (key === undefined) return undefined;
  checkKeyPart(`${what()}: the fairness key that queue() gave`, key);
  return key;
}
