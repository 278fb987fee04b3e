// The data of spec events and status events, from JSON and back.
//
// Writers in Go leave lists that are empty as null, so a null member counts as absent, except inside manifests, which
// are not ours to change. Members that are not known here are kept.
import { Type } from 'typebox';
import { bodyErrors } from '../../arm/check-body.ts';
import { parseJson } from '../../arm/json-text.ts';
import { isRecord } from '../../arm/record.ts';
import { MapOf } from '../../arm/schema.ts';
import { maxJsonDepth, maxManifestBytes } from './limits.ts';
import type { ManifestBundle, ManifestBundleStatus } from './manifest-bundle.ts';
import { type Decoded, decoded, refused } from './refusal.ts';

const text = Type.Optional(Type.String());
const texts = Type.Optional(Type.Array(Type.String()));
const resourceIdentifier = Type.Object({ group: text, resource: text, namespace: text, name: text });

const bundleSchema = Type.Object({
  manifests: Type.Array(MapOf(Type.Unknown())),
  deleteOption: Type.Optional(
    Type.Object({
      propagationPolicy: text,
      selectivelyOrphans: Type.Optional(Type.Object({ orphaningRules: Type.Optional(Type.Array(resourceIdentifier)) })),
      ttlSecondsAfterFinished: Type.Optional(Type.Integer()),
    }),
  ),
  manifestConfigs: Type.Optional(
    Type.Array(
      Type.Object({
        resourceIdentifier,
        updateStrategy: Type.Optional(
          Type.Object({
            type: text,
            serverSideApply: Type.Optional(
              Type.Object({
                force: Type.Optional(Type.Boolean()),
                fieldManager: text,
                ignoreFields: Type.Optional(
                  Type.Array(
                    Type.Object({ condition: text, jsonPaths: texts, jsonPointers: texts, jqPathExpressions: texts }),
                  ),
                ),
              }),
            ),
          }),
        ),
        feedbackRules: Type.Optional(
          Type.Array(
            Type.Object({
              type: text,
              jsonPaths: Type.Optional(Type.Array(Type.Object({ name: text, path: text, version: text }))),
            }),
          ),
        ),
        conditionRules: Type.Optional(
          Type.Array(
            Type.Object({ condition: text, type: text, celExpressions: texts, message: text, messageExpression: text }),
          ),
        ),
        feedbackScrapeType: text,
      }),
    ),
  ),
  executer: Type.Optional(
    Type.Object({
      subject: Type.Object({
        type: text,
        serviceAccount: Type.Optional(Type.Object({ namespace: text, name: text })),
      }),
    }),
  ),
});

const condition = Type.Object({
  type: Type.String(),
  status: Type.String(),
  observedGeneration: Type.Optional(Type.Integer()),
  lastTransitionTime: text,
  reason: text,
  message: text,
});

const statusSchema = Type.Object({
  conditions: Type.Array(condition),
  resourceStatus: Type.Array(
    Type.Object({
      resourceMeta: Type.Object({
        ordinal: Type.Optional(Type.Integer()),
        group: text,
        version: text,
        kind: text,
        resource: text,
        name: text,
        namespace: text,
      }),
      statusFeedback: Type.Object({
        values: Type.Optional(
          Type.Array(
            Type.Object({
              name: text,
              fieldValue: Type.Object({
                type: Type.String(),
                integer: Type.Optional(Type.Integer()),
                string: text,
                boolean: Type.Optional(Type.Boolean()),
                jsonRaw: text,
              }),
            }),
          ),
        ),
      }),
      conditions: Type.Array(condition),
    }),
  ),
});

type Members = Readonly<Record<string, unknown>>;

/** A bundle from the data of a spec event. Its size is not looked at: see checkBundleSize. */
export function parseBundle(data: Uint8Array): Decoded<ManifestBundle> {
  const members = parseMembers(data);
  return members.ok ? readBundle(members.value) : members;
}

/** A status from the data of a status event. */
export function parseBundleStatus(data: Uint8Array): Decoded<ManifestBundleStatus> {
  const members = parseMembers(data);
  return members.ok ? readBundleStatus(members.value) : members;
}

/** A bundle from JSON that has been parsed. */
export function readBundle(members: Members): Decoded<ManifestBundle> {
  const { manifests, ...rest } = members;
  const bundle = { ...withoutNulls(rest), manifests: manifests ?? [] };
  return checked<ManifestBundle>(bundleSchema, bundle);
}

/** A status from JSON that has been parsed. */
export function readBundleStatus(members: Members): Decoded<ManifestBundleStatus> {
  const { manifestBundle, ...rest } = members;
  const plain = withoutNulls(rest);
  const status = {
    ...plain,
    conditions: plain.conditions ?? [],
    resourceStatus: Array.isArray(plain.resourceStatus)
      ? plain.resourceStatus.map(completeManifestStatus)
      : (plain.resourceStatus ?? []),
  };
  const result = checked<ManifestBundleStatus>(statusSchema, status);
  if (!result.ok || !isRecord(manifestBundle)) return result;
  const bundle = readBundle(manifestBundle);
  return bundle.ok ? decoded({ ...result.value, manifestBundle: bundle.value }) : bundle;
}

/** The bytes that agents count: every manifest as JSON. */
export function manifestBytes(bundle: ManifestBundle): number {
  return bundle.manifests.reduce((sum, manifest) => sum + Buffer.byteLength(JSON.stringify(manifest)), 0);
}

/** Refuses a bundle that no agent would take: without manifests, or too large. */
export function checkBundleSize(bundle: ManifestBundle): Decoded<ManifestBundle> {
  if (bundle.manifests.length === 0) return refused('invalid-data', 'the bundle has no manifests');
  const bytes = manifestBytes(bundle);
  return bytes <= maxManifestBytes
    ? decoded(bundle)
    : refused('too-large', `the manifests of the bundle are ${bytes} bytes; ${maxManifestBytes} are allowed`);
}

/** The data of a request for a resync, and everything else here, as a JSON object. */
export function parseMembers(data: Uint8Array): Decoded<Members> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const parsed = parseJson(bytes, maxJsonDepth);
  if (!parsed.ok) return refused('invalid-data', `the data cannot be read: ${parsed.message}`);
  return isRecord(parsed.value) ? decoded(parsed.value) : refused('invalid-data', 'the data are not a JSON object');
}

function checked<T>(schema: Parameters<typeof bodyErrors>[0], value: Members): Decoded<T> {
  const [first] = bodyErrors(schema, value);
  return first === undefined
    ? decoded(value as T)
    : refused('invalid-data', `the data do not have the form of their type at '${first.target}'`);
}

function completeManifestStatus(status: unknown): unknown {
  return isRecord(status) ? { resourceMeta: {}, statusFeedback: {}, conditions: [], ...status } : status;
}

/** Recursion is bounded: the depth of JSON is checked where it is parsed. */
function withoutNulls(value: Members): Members {
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) if (member !== null) kept.push([name, clean(member)]);
  return Object.fromEntries(kept);
}

function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clean);
  return isRecord(value) ? withoutNulls(value) : value;
}
