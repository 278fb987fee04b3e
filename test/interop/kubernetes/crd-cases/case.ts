// What a case of custom resources is: a definition and the requests that follow, each of whose answers is recorded. `GROUP` in
// paths and bodies stands for a group that only this case has.

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
export type JsonMap = { [member: string]: Json };

export interface Step {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: Json;
  readonly contentType?: string;
  readonly accept?: string;
  /** PUT: the object as it is, with the body merged into it. */
  readonly merge?: boolean;
  /** Whether the recorder waits after it until controllers have done their part. */
  readonly settle?: boolean;
}

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const definitionPath = `${definitions}/widgets.GROUP`;
export const widgets = (version = 'v1'): string => `/apis/GROUP/${version}/namespaces/default/widgets`;

/** A definition of widgets with one version. `spec` and `version` are merged into it. */
export function definition(schema: JsonMap, more: { spec?: JsonMap; version?: JsonMap; name?: string } = {}): JsonMap {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: more.name ?? 'widgets.GROUP' },
    spec: {
      group: 'GROUP',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more.version }],
      ...more.spec,
    },
  };
}

export const object = (properties: JsonMap, more: JsonMap = {}): JsonMap => ({ type: 'object', properties, ...more });
/** The schema of an object whose spec has these properties. */
export const withSpec = (properties: JsonMap, more: JsonMap = {}): JsonMap =>
  object({ spec: object(properties, more) });

export const define = (body: Json): Step => ({ method: 'POST', path: definitions, body, settle: true });
export const redefine = (body: Json): Step => ({
  method: 'PUT',
  path: definitionPath,
  body,
  merge: true,
  settle: true,
});

export const widget = (spec: Json, more: JsonMap = {}, version = 'v1'): JsonMap => ({
  apiVersion: `GROUP/${version}`,
  kind: 'Widget',
  metadata: { name: 'x' },
  ...(spec === null ? {} : { spec }),
  ...more,
});

export const create = (spec: Json, more: JsonMap = {}, query = ''): Step => ({
  method: 'POST',
  path: `${widgets()}${query}`,
  body: widget(spec, more),
});
export const get = (version = 'v1', rest = ''): Step => ({ method: 'GET', path: `${widgets(version)}/x${rest}` });
/** Puts the object as it is with the body merged in. */
export const update = (body: Json, subresource = ''): Step => ({
  method: 'PUT',
  path: `${widgets()}/x${subresource}`,
  body,
  merge: true,
});
const patch =
  (contentType: string) =>
  (body: Json, rest = ''): Step => ({ method: 'PATCH', path: `${widgets()}/x${rest}`, body, contentType });
export const mergePatch = patch('application/merge-patch+json');
export const jsonPatch = patch('application/json-patch+json');
export const strategicPatch = patch('application/strategic-merge-patch+json');
export const apply = (spec: Json, more: JsonMap = {}, query = ''): Step => ({
  method: 'PATCH',
  path: `${widgets()}/x?fieldManager=someone${query}`,
  body: widget(spec, more),
  contentType: 'application/apply-patch+yaml',
});

export const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** A case of one refused or accepted definition. */
export const one = (name: string, body: Json): Case => ({ name, steps: [define(body)] });
export const many = (name: string, ...steps: readonly Step[]): Case => ({ name, steps });
