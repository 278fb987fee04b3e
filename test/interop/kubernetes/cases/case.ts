// What a case of the conformance suite is, and the short forms that cases are written in.
//
// In every string of a step, `$NS` stands for the case's own namespace and `{{2.metadata.uid}}` for what step 2 (counted from 0,
// set-up included) was answered.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonMap = { readonly [key: string]: Json };
export type Headers = Readonly<Record<string, string>>;

/** One request, as plain HTTP. */
export interface Step {
  readonly method: string;
  /** A whole path, or one that begins with a resource of {@link prefixes} in the case's namespace. */
  readonly path: string;
  readonly headers?: Headers;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: Json;
  /** For a watch: how many events to read before hanging up. The stream may end earlier. */
  readonly events?: number;
  /** In a set-up: asked again until it is answered with this status, for what a server takes up after a while. */
  readonly until?: number;
}

export interface Case {
  /** Names the case, and its namespace, among all groups. */
  readonly name: string;
  /** Requests whose answers are not compared; each must succeed. */
  readonly setup: readonly Step[];
  /** Requests whose answers are compared. */
  readonly steps: readonly Step[];
  /** Parts of the body that are compared, as dotted paths; all of it when left out. */
  readonly only?: readonly string[];
}

/** Where resources live. */
export const prefixes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '/api/v1':
      'configmaps secrets pods services serviceaccounts endpoints events limitranges resourcequotas persistentvolumeclaims bindings',
    '/apis/apps/v1': 'deployments replicasets statefulsets daemonsets',
    '/apis/batch/v1': 'jobs cronjobs',
    '/apis/coordination.k8s.io/v1': 'leases',
    '/apis/networking.k8s.io/v1': 'ingresses networkpolicies',
    '/apis/policy/v1': 'poddisruptionbudgets',
    '/apis/rbac.authorization.k8s.io/v1': 'roles rolebindings',
    '/apis/discovery.k8s.io/v1': 'endpointslices',
    '/apis/authorization.k8s.io/v1': 'localsubjectaccessreviews',
  }).flatMap(([prefix, names]) => names.split(' ').map((name) => [name, prefix])),
);

const request =
  (method: string) =>
  (path: string, body?: Json, headers?: Headers): Step => ({
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(headers ? { headers } : {}),
  });

export const post = request('POST');
export const put = request('PUT');
export const del = request('DELETE');
export const get = (path: string, headers?: Headers): Step => request('GET')(path, undefined, headers);
export const send = (method: string, path: string, body?: Json, headers?: Headers): Step =>
  request(method)(path, body, headers);

/** A request of a set-up that is repeated until it is answered with this status. */
export const until = (status: number, step: Step): Step => ({ ...step, until: status });

export const watch = (path: string, events: number, headers?: Headers): Step => ({ ...get(path, headers), events });

const patchOf =
  (type: string) =>
  (path: string, body: Json, headers: Headers = {}): Step =>
    request('PATCH')(path, body, { 'content-type': type, ...headers });

export const jsonPatch = patchOf('application/json-patch+json');
export const mergePatch = patchOf('application/merge-patch+json');
export const strategicPatch = patchOf('application/strategic-merge-patch+json');
export const apply = patchOf('application/apply-patch+yaml');

/** The requests under test, after a set-up. */
export const after = (name: string, setup: readonly Step[], ...steps: readonly Step[]): Case => ({
  name,
  setup,
  steps,
});
export const plain = (name: string, ...steps: readonly Step[]): Case => after(name, [], ...steps);
export const only = (paths: readonly string[], of: Case): Case => ({ ...of, only: paths });

/** The rights of another user, who has none unless the case gives some. */
export const as = (user: string, ...groups: readonly string[]): Headers => ({
  'impersonate-user': user,
  ...(groups[0] === undefined ? {} : { 'impersonate-group': groups[0] }),
});

export const table: Headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
export const partial: Headers = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
export const partialList: Headers = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
