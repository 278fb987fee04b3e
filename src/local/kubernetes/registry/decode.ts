// From a parsed body to an object of its type: what the type does not know is dropped, and told or refused as asked.
import type { JsonObject, KubeObject } from '../object.ts';
import type { RequestContext } from '../request-context.ts';
import { goQuote } from '../schema/go-text.ts';
import { badRequest } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { apiVersionOf } from './served.ts';

export interface Decoded {
  readonly object: KubeObject;
  /** Such as `unknown field "spec.foo"`. */
  readonly complaints: readonly string[];
}

/** Reads a body. Refuses wrong types with 400. `duplicates` are complaints about its text. */
export function decode(type: ResourceType, body: JsonObject, duplicates: readonly string[] = []): Decoded {
  const { object, unknown } = decodeBody(type, body);
  if (unknown.length === 0) return { object, complaints: duplicates };
  const quoted = unknown.map(goQuote);
  // A member that the type does not have is not looked at again.
  const untold = new Set(type.custom ? [] : quoted.map((path) => `duplicate field ${path}`));
  const told = duplicates.filter((complaint) => !untold.has(complaint));
  return { object, complaints: [...told, ...quoted.map((path) => `unknown field ${path}`)] };
}

/** Reads a body, and names the fields that the type does not have. */
export function decodeBody(type: ResourceType, body: JsonObject): { object: KubeObject; unknown: readonly string[] } {
  return type.strategy.decode?.(body) ?? { object: plain(type, body), unknown: [] };
}

function plain(type: ResourceType, body: JsonObject): KubeObject {
  const { metadata } = body;
  if (metadata !== undefined && metadata !== null && (typeof metadata !== 'object' || Array.isArray(metadata))) {
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: json: cannot unmarshal ${Array.isArray(metadata) ? 'array' : typeof metadata} into Go struct field ${type.kind}.metadata of type v1.ObjectMeta`,
    );
  }
  return { ...body, apiVersion: apiVersionOf(type), kind: type.kind, metadata: { ...metadata } } as KubeObject;
}

const ofYaml = /^line \d+: /;

/** Complaints in one line, but those about the text of YAML under one heading. */
function joined(complaints: readonly string[]): string {
  const lines = complaints.filter((complaint) => ofYaml.test(complaint));
  const others = complaints.filter((complaint) => !ofYaml.test(complaint));
  const heading = lines.length > 0 ? [`yaml: unmarshal errors:\n  ${lines.join('\n  ')}`] : [];
  return [...heading, ...others].join(', ');
}

/** Refuses or tells what was wrong with a body's fields, as `fieldValidation` asks. */
export function reportComplaints(
  context: RequestContext,
  type: Pick<ResourceType, 'kind' | 'version'>,
  complaints: readonly string[],
): void {
  if (complaints.length === 0 || context.fieldValidation === 'Ignore') return;
  if (context.fieldValidation === 'Strict') {
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: strict decoding error: ${joined(complaints)}`,
    );
  }
  for (const complaint of complaints) context.warn(complaint);
}
