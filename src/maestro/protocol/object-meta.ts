// The `metadata` extension: a Kubernetes ObjectMeta as JSON text.
import { Type } from 'typebox';
import { bodyErrors } from '../../arm/check-body.ts';
import { parseJson } from '../../arm/json-text.ts';
import { MapOf } from '../../arm/schema.ts';
import { maxJsonDepth } from './limits.ts';
import { type Decoded, decoded, refused } from './refusal.ts';

export interface ObjectMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  /** Members not named here are kept as they came. */
  readonly [member: string]: unknown;
}

const schema = Type.Object({
  name: Type.Optional(Type.String()),
  namespace: Type.Optional(Type.String()),
  uid: Type.Optional(Type.String()),
  generation: Type.Optional(Type.Integer()),
  resourceVersion: Type.Optional(Type.String()),
  labels: Type.Optional(MapOf(Type.String())),
  annotations: Type.Optional(MapOf(Type.String())),
  finalizers: Type.Optional(Type.Array(Type.String())),
});

/** Members that are null are left out: writers in Go have them where a map or a list is empty. */
export function parseObjectMeta(text: string): Decoded<ObjectMeta> {
  const parsed = parseJson(Buffer.from(text), maxJsonDepth);
  if (!parsed.ok) return refused('invalid-attribute', `metadata: ${parsed.message}`);
  const value: unknown = parsed.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refused('invalid-attribute', 'metadata: it is not a JSON object');
  }
  const present = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  const [first] = bodyErrors(schema, present);
  return first === undefined
    ? decoded(present as ObjectMeta)
    : refused('invalid-attribute', `metadata: ${first.target}: not of the type that a Kubernetes ObjectMeta has there`);
}
