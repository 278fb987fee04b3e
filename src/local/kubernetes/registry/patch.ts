// Patches: the object as it is served, the change, the object as it is wanted.
import { applyConfiguration } from '../apply/apply-configuration.ts';
import type { JsonObject, JsonValue, KubeObject } from '../object.ts';
import { applyJsonPatch, unknownParts } from '../patch/json-patch.ts';
import { isObject } from '../patch/json-tree.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { goJsonKind, goPrint } from '../patch/refused-patch.ts';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts';
import type { RequestContext } from '../request-context.ts';
import { decodeAs, definitionName, internalPackage, WrongTypeError } from '../schema/decode.ts';
import { schemaOfKind } from '../schema/definitions.ts';
import { inGoOrder } from '../schema/go-order.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest, StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { decodeBody } from './decode.ts';
import type { ObjectName, PatchRequest } from './registry.ts';
import { apiVersionOf } from './served.ts';
import { timestamp } from './timestamp.ts';
import { trackedType } from './tracked-type.ts';

/** The outcome of a patch that is not apply, as plain JSON. */
export function patched(live: JsonObject, patch: PatchRequest, schema: Schema): JsonObject {
  const changed =
    patch.type === 'json'
      ? applyJsonPatch(live, patch.body)
      : patch.type === 'merge'
        ? applyMergePatch(live, patch.body)
        : applyStrategicMergePatch(live, patch.body, schema);
  if (!isObject(changed)) throw unreadable(JSON.stringify(changed), 'the patch leaves no object');
  return changed;
}

/** A patch's outcome that is no object of the type is the patch's fault. */
function unreadable(text: string, why: string): StatusError {
  const message = `Invalid value: ${JSON.stringify(text)}: ${why}`;
  return new StatusError(422, 'Invalid', ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }],
  });
}

const handledAs = / cannot be handled as an? [^:]*: /;

/** What a patch's outcome must be. */
export interface PatchedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The outcome as the server prints it. */
  ordered(json: JsonObject): JsonObject;
  read(body: JsonObject): { readonly object: KubeObject; readonly unknown: readonly string[] };
}

const metadataDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

function ordered({ group, version, kind, custom }: ResourceType, json: JsonObject): JsonObject {
  if (!custom) return inGoOrder(definitionName(group, version, kind), json);
  return isObject(json.metadata) ? { ...json, metadata: inGoOrder(metadataDefinition, json.metadata) } : json;
}

export const kindOf = (type: ResourceType): PatchedKind => ({
  group: type.group,
  version: type.version,
  kind: type.kind,
  ordered: (json) => ordered(type, json),
  read: (body) => decodeBody(type, body),
});

/** Members in order of name wherever the patch went, as the server prints them. */
function sortedLike(json: JsonValue, patch: unknown): JsonValue {
  if (!isObject(json) || !isObject(patch)) return json;
  const names = Object.keys(json).sort();
  return Object.fromEntries(names.map((name) => [name, sortedLike(json[name] ?? null, patch[name])]));
}

/** Reads a patch's outcome as an object of the type, and tells of unknown fields as asked. */
export function readPatched(
  context: RequestContext,
  type: PatchedKind,
  name: ObjectName,
  json: JsonObject,
  patch: PatchRequest,
): KubeObject {
  const text = (): string => JSON.stringify(sortedLike(type.ordered(json), patch.type === 'json' ? {} : patch.body));
  checkKind(type, json, text);
  try {
    const { object, unknown } = type.read(json);
    const complaints = [...complaintsOf(patch), ...unknown.map((path) => `unknown field "${path}"`)];
    if (complaints.length > 0 && context.fieldValidation === 'Strict') {
      throw unreadable(text(), `strict decoding error: ${complaints.join(', ')}`);
    }
    if (context.fieldValidation === 'Warn') for (const complaint of complaints) context.warn(complaint);
    checkName(object, name);
    return object;
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    const [, why] = error.message.split(handledAs);
    if (error instanceof WrongTypeError && patch.type === 'strategic') {
      throw unreadable(goPrint(patch.body as JsonValue), error.unconvertible);
    }
    throw why === undefined ? error : unreadable(text(), why);
  }
}

/** Refuses an outcome that says it is of another kind. */
function checkKind(type: PatchedKind, json: JsonObject, text: () => string): void {
  const kind = json.kind || type.kind;
  const apiVersion = json.apiVersion || apiVersionOf(type);
  for (const [member, value] of Object.entries({ apiVersion, kind })) {
    if (typeof value === 'string') continue;
    const why = `json: cannot unmarshal ${goJsonKind(value)} into Go struct field .${member} of type string`;
    throw unreadable(text(), `couldn't get version/kind; json parse error: ${why}`);
  }
  if (kind === type.kind && apiVersion === apiVersionOf(type)) return;
  const said = String(apiVersion);
  const [version = '', group = '', ...more] = said.split('/').reverse();
  if (more.length > 0) throw unreadable(text(), `unexpected GroupVersion string: ${said}`);
  const known = schemaOfKind(group, version, String(kind)) !== undefined;
  try {
    // What the body is not as that kind is told before that it should be another.
    if (known) decodeAs(definitionName(group, version, String(kind)), json, '');
    throw badRequest(
      known
        ? `converting (${version}.${kind}) to (${internalPackage(type.group)}.${type.kind}): unknown conversion`
        : `no kind "${kind}" is registered for version "${said}" in scheme "pkg/runtime/scheme.go:110"`,
    );
  } catch (error) {
    throw error instanceof StatusError ? unreadable(text(), error.message) : error;
  }
}

const repeatedPart = /^duplicate field "\[\d+\]\.[^.[]+"$/;

/** What is to be told of a patch's own text. */
function complaintsOf({ type, body, duplicates = [] }: PatchRequest): readonly string[] {
  if (type !== 'json') return duplicates;
  const repeated = duplicates.filter((complaint) => repeatedPart.test(complaint));
  return [...repeated, ...unknownParts(body)].map((complaint) => `json patch ${complaint}`);
}

/** The name and namespace of an object must be those of the URL. */
export function checkName({ metadata }: KubeObject, { namespace, name }: ObjectName): void {
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  checkNamespaceOf(metadata, namespace);
}

/** Sets the namespace of the request, or refuses another. */
export function checkNamespaceOf(metadata: KubeObject['metadata'], namespace: string): void {
  if (namespace === '') delete metadata.namespace;
  else if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** The object after server-side apply, managed fields included. */
export function applied(
  context: RequestContext,
  type: ResourceType,
  name: ObjectName,
  live: KubeObject | undefined,
  patch: PatchRequest,
  subresource: string,
): KubeObject {
  if (patch.body === null) throw badRequest('invalid object type: /, Kind=');
  if (!isObject(patch.body)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${goJsonKind(patch.body)} into Go value of type map[string]interface {}`,
    );
  }
  for (const member of ['name', 'namespace'] as const) {
    const given = isObject(patch.body.metadata) ? patch.body.metadata[member] : undefined;
    if (given !== undefined && given !== null && typeof given !== 'string') {
      throw badRequest(`metadata.${member} of the applied configuration is not a string`);
    }
  }
  const merged = applyConfiguration({
    type: trackedType(context.cluster.types, type, subresource),
    live,
    config: patch.body,
    manager: context.fieldManager,
    force: patch.force ?? false,
    now: timestamp(context.cluster.now()),
  });
  const { object } = decodeBody(type, merged as unknown as JsonObject);
  if (!live) object.metadata.name ??= name.name;
  checkName(object, name);
  return object;
}
