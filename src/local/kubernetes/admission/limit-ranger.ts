// Limits of a namespace: defaults for containers that say nothing, refusals for what is too much or too little.
import type { Entry, Objects } from '../objects/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/admission.ts';
import { formatQuantity, parseQuantity, type Quantity } from '../schema/quantity.ts';
import { type Container, createsPod, joinedReasons, type Pod, podOf, type ResourceList, refused } from './pod.ts';
import { podLimits, podRequests } from './pod-resources.ts';

interface Limit {
  readonly type: string;
  readonly max?: ResourceList;
  readonly min?: ResourceList;
  readonly default?: ResourceList;
  readonly defaultRequest?: ResourceList;
  readonly maxLimitRequestRatio?: ResourceList;
}

const storage = '/limitranges';
const claims = '/persistentvolumeclaims';
const annotation = 'kubernetes.io/limit-ranger';

const parsed = new WeakMap<Entry, readonly Limit[]>();

function limitsOf(entry: Entry): readonly Limit[] {
  const known = parsed.get(entry);
  if (known) return known;
  const { spec } = JSON.parse(entry.bytes.toString()) as { spec?: { limits?: Limit[] } };
  const limits = spec?.limits ?? [];
  parsed.set(entry, limits);
  return limits;
}

const rangesOf = (objects: Objects, namespace: string): Entry[] => objects.list(storage, { namespace });

export const limitRangerPlugin: AdmissionPlugin = {
  name: 'LimitRanger',
  waits: false,
  concerns: (target, { cluster }) =>
    (createsPod(target) ||
      (target.type.storage === claims && target.operation !== 'DELETE' && target.subresource === '')) &&
    cluster.objects.count(storage, target.namespace) > 0,
  mutate(request) {
    const pod = createsPod(request) ? podOf(request) : undefined;
    if (!pod) return;
    for (const range of rangesOf(request.context.cluster.objects, request.namespace)) fill(pod, limitsOf(range));
  },
  validate(request) {
    for (const range of rangesOf(request.context.cluster.objects, request.namespace)) {
      const reasons = limitsOf(range).flatMap((limit) => broken(limit, request));
      if (reasons.length > 0) throw refused(request, joinedReasons(reasons));
    }
  },
};

function fill(pod: Pod, limits: readonly Limit[]): void {
  const requests: ResourceList = {};
  const most: ResourceList = {};
  for (const limit of limits) {
    if (limit.type !== 'Container') continue;
    Object.assign(requests, limit.defaultRequest);
    Object.assign(most, limit.default);
  }
  const notes: string[] = [];
  const each = (container: Container, what: string): void => {
    const resources = container.resources ?? {};
    const set = { requests: { ...resources.requests }, limits: { ...resources.limits } };
    for (const [kind, defaults] of [['requests', requests] as const, ['limits', most] as const]) {
      const missing = Object.keys(defaults).filter((name) => !Object.hasOwn(set[kind], name));
      for (const name of missing) set[kind][name] = defaults[name] ?? '';
      if (missing.length > 0) {
        notes.push(`${missing.sort().join(', ')} ${kind.slice(0, -1)} for ${what} ${container.name}`);
      }
    }
    container.resources = {
      ...resources,
      ...(Object.keys(set.limits).length > 0 ? { limits: set.limits } : {}),
      ...(Object.keys(set.requests).length > 0 ? { requests: set.requests } : {}),
    };
  };
  for (const container of pod.spec.containers) each(container, 'container');
  for (const container of pod.spec.initContainers ?? []) each(container, 'init container');
  if (notes.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [annotation]: `LimitRanger plugin set: ${notes.join('; ')}`,
  };
}

interface Observed {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

const quantities = (list: ResourceList = {}): Map<string, Quantity> =>
  new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(String(text))]));

function broken(limit: Limit, request: AdmissionRequest): string[] {
  if (request.type.storage === claims) {
    if (limit.type !== 'PersistentVolumeClaim') return [];
    const { resources } = (request.object?.spec ?? {}) as { resources?: { requests?: ResourceList } };
    const requests = quantities(resources?.requests);
    return [
      ...check(limit, 'min', (name, enforced) =>
        tooLittle(limit.type, name, enforced, { requests, limits: new Map() }),
      ),
      ...check(limit, 'max', (name, enforced) => tooMuchAsked(limit.type, name, enforced, requests)),
    ];
  }
  const pod = podOf(request);
  if (!pod) return [];
  if (limit.type === 'Pod') {
    return brokenBy(limit, { requests: podRequests(pod.spec), limits: podLimits(pod.spec) });
  }
  if (limit.type !== 'Container') return [];
  return [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].flatMap(({ resources }) =>
    brokenBy(limit, { requests: quantities(resources?.requests), limits: quantities(resources?.limits) }),
  );
}

function brokenBy(limit: Limit, observed: Observed): string[] {
  return [
    ...check(limit, 'min', (name, enforced) => tooLittle(limit.type, name, enforced, observed)),
    ...check(limit, 'max', (name, enforced) => tooMuch(limit.type, name, enforced, observed)),
    ...check(limit, 'maxLimitRequestRatio', (name, enforced) => tooFarApart(limit.type, name, enforced, observed)),
  ];
}

function check(
  limit: Limit,
  field: 'min' | 'max' | 'maxLimitRequestRatio',
  rule: (name: string, enforced: Quantity) => string | undefined,
): string[] {
  const entries = Object.entries(limit[field] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.flatMap(([name, text]) => rule(name, parseQuantity(text)) ?? []);
}

function tooLittle(type: string, name: string, enforced: Quantity, { requests, limits }: Observed): string | undefined {
  const head = `minimum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (!request) return `${head}.  No request is specified`;
  if (request.nanos < enforced.nanos) return `${head}, but request is ${formatQuantity(request)}`;
  return limit && limit.nanos < enforced.nanos ? `${head}, but limit is ${formatQuantity(limit)}` : undefined;
}

function tooMuch(type: string, name: string, enforced: Quantity, { requests, limits }: Observed): string | undefined {
  const head = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (!limit) return `${head}.  No limit is specified`;
  if (limit.nanos > enforced.nanos) return `${head}, but limit is ${formatQuantity(limit)}`;
  return request && request.nanos > enforced.nanos ? `${head}, but request is ${formatQuantity(request)}` : undefined;
}

function tooMuchAsked(
  type: string,
  name: string,
  enforced: Quantity,
  requests: ReadonlyMap<string, Quantity>,
): string | undefined {
  const head = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  const request = requests.get(name);
  if (!request) return `${head}.  No request is specified`;
  return request.nanos > enforced.nanos ? `${head}, but request is ${formatQuantity(request)}` : undefined;
}

function tooFarApart(
  type: string,
  name: string,
  enforced: Quantity,
  { requests, limits }: Observed,
): string | undefined {
  const head = `${name} max limit to request ratio per ${type} is ${formatQuantity(enforced)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (!request || request.nanos === 0n) return `${head}, but no request is specified or request is 0`;
  if (!limit || limit.nanos === 0n) return `${head}, but no limit is specified or limit is 0`;
  const ratio = Number(limit.nanos) / Number(request.nanos);
  return ratio > Number(enforced.nanos) / 1e9 ? `${head}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
