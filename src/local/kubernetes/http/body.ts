// Bodies of requests: which formats they come in, and what is said of those that cannot be read.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject } from '../patch/json-tree.ts';
import { apiVersionOf } from '../registry/served.ts';
import { depthOf, refuseDeep } from '../schema/depth.ts';
import { JsonTextError, type ParsedJson, parseJson } from '../schema/json-text.ts';
import { badRequest, invalid, StatusError, unsupportedMediaType } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { objectTypes } from './negotiate.ts';
import { decodeProtobuf, ProtobufError } from './protobuf/decode.ts';
import { parseYaml, YamlTextError } from './yaml.ts';
import { parseYamlOnThread } from './yaml-thread.ts';

export type BodyFormat = 'json' | 'yaml' | 'protobuf';

/** 3 MiB, as the server has it. */
export const bodyLimit = 3 * 1024 * 1024;

const mediaOf = (contentType: string | undefined): string =>
  (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** The format of an object's body. Refuses with 415; a body without a type is taken for JSON. */
export function bodyFormat(contentType: string | undefined): BodyFormat {
  const media = mediaOf(contentType);
  if (contentType === undefined || media === 'application/json') return 'json';
  if (media === 'application/yaml' || media === 'application/x-yaml') return 'yaml';
  if (media === 'application/vnd.kubernetes.protobuf') return 'protobuf';
  throw unsupportedMediaType(objectTypes);
}

/**
 * Reads a body of any format. Rejects with JsonTextError, YamlTextError or ProtobufError, and with StatusError where it takes too
 * much to read. What takes long is done in turns, one tenant after the other.
 */
export async function parseBody(bytes: Buffer, format: BodyFormat, tenant: string): Promise<ParsedJson> {
  if (format === 'protobuf') {
    const value = decodeProtobuf(bytes);
    return { value, duplicates: [], depth: depthOf(value) };
  }
  return format === 'yaml' ? readYaml(bytes.toString(), tenant) : parseJson(bytes.toString());
}

/** What is wrong with a body that cannot be read; undefined for other errors. */
export function bodyProblem(error: unknown): string | undefined {
  if (error instanceof YamlTextError || error instanceof ProtobufError) return error.message;
  return error instanceof JsonTextError ? `couldn't get version/kind; json parse error: ${error.message}` : undefined;
}

/** Longer YAML is read beside everything else. */
const longYaml = 16 * 1024;

/** Reads YAML. */
async function readYaml(text: string, tenant: string): Promise<ParsedJson> {
  // kubectl sends JSON under YAML's name; that is quicker read as what it is.
  if (text.trimStart().startsWith('{')) {
    try {
      return parseJson(text);
    } catch {
      // Flow YAML that is no JSON.
    }
  }
  const read = text.length > longYaml ? await parseYamlOnThread(text, tenant) : parseYaml(text);
  return { ...read, depth: depthOf(read.value) };
}

/** How the server shows what it could not read: the start as text if it looks like JSON, else in hexadecimal. */
function shown(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const cut = bytes.length > 30;
  const part = bytes.subarray(0, 30);
  const text = bytes[0] === 0x7b ? part.toString() : part.toString('hex');
  return cut ? `${text} ...` : text;
}

const versionKind =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const goKind = (value: JsonValue): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

export interface ObjectBody {
  readonly body: JsonObject;
  readonly duplicates: readonly string[];
  readonly depth: number;
}

/** Reads the body of a create or update of this kind. */
export async function readObjectBody(
  bytes: Buffer,
  format: BodyFormat,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  custom: boolean,
  tenant: string,
): Promise<ObjectBody> {
  // Custom resources have no numbers for their fields.
  if (custom && format === 'protobuf') throw unsupportedMediaType(['application/json', 'application/yaml']);
  const unrecognized = (why: string): StatusError =>
    badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${shown(bytes)})`);
  let parsed: ParsedJson;
  try {
    parsed = await parseBody(bytes, format, tenant);
  } catch (error) {
    const problem = bodyProblem(error);
    if (problem !== undefined) throw unrecognized(problem);
    throw error;
  }
  const { value, duplicates, depth } = parsed;
  // A built-in's decoder drops what it does not know before anything walks the object; what is left is checked then.
  if (custom) refuseDeep(depth);
  if (value === null && !custom) return { body: {}, duplicates, depth };
  if (!isObject(value)) {
    if (value === null) throw unrecognized("Object 'Kind' is missing in 'null'");
    throw unrecognized(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type ${versionKind}`,
    );
  }
  checkKind(value, kind, custom, unrecognized, bytes);
  return { body: value, duplicates, depth };
}

function checkKind(
  body: JsonObject,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  custom: boolean,
  unrecognized: (why: string) => StatusError,
  bytes: Buffer,
): void {
  for (const member of ['apiVersion', 'kind'] as const) {
    const value = body[member];
    if (value === undefined || value === null || typeof value === 'string') continue;
    const field = member === 'kind' ? 'kind' : 'apiVersion';
    throw unrecognized(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(value)} into Go struct field .${field} of type string`,
    );
  }
  const apiVersion = (body.apiVersion as string | null | undefined) || '';
  if (apiVersion.split('/').length > 2) throw unrecognized(`unexpected GroupVersion string: ${apiVersion}`);
  // What a built-in says it is its decoder looks at.
  if (!custom) return;
  const expected = apiVersionOf(kind);
  const said = (body.kind as string | null | undefined) || '';
  if (said === '') throw unrecognized(`Object 'Kind' is missing in '${bytes.toString()}'`);
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (said !== kind.kind) {
    const name = isObject(body.metadata) && typeof body.metadata.name === 'string' ? body.metadata.name : '';
    throw invalid({ group: kind.group, kind: said }, name, [
      {
        type: 'FieldValueInvalid',
        field: 'kind',
        message: `Invalid value: ${JSON.stringify(said)}: must be ${kind.kind}`,
      },
    ]);
  }
}

export type PatchFormat = 'json' | 'merge' | 'strategic' | 'apply';

const patchTypes: Readonly<Record<string, PatchFormat>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** Which patch a content type stands for. Refuses with 415. */
export function patchFormat(contentType: string | undefined, type: ResourceType): PatchFormat {
  const media = mediaOf(contentType);
  const found = Object.hasOwn(patchTypes, media) ? patchTypes[media] : undefined;
  if (!found) throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  if (found === 'strategic' && type.custom) {
    throw unsupportedMediaType(Object.keys(patchTypes).filter((name) => patchTypes[name] !== 'strategic'));
  }
  return found;
}

/** Reads the body of a patch. */
export async function readPatchBody(bytes: Buffer, format: PatchFormat, tenant: string): Promise<ParsedJson> {
  const text = bytes.toString();
  try {
    const parsed = format === 'apply' ? await readYaml(text, tenant) : parseJson(text);
    refuseDeep(parsed.depth);
    return parsed;
  } catch (error) {
    if (error instanceof YamlTextError) {
      throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
    }
    if (!(error instanceof JsonTextError)) throw error;
    throw badRequest(format === 'strategic' ? error.message : `error decoding patch: ${error.message}`);
  }
}
