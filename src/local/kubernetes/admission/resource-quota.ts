// Quotas: what a namespace uses is counted in the same commit that stores what uses it, so that no two requests share the last
// of it.
import type { Cluster } from '../cluster.ts';
import type { KubeObject } from '../object.ts';
import type { Entry, Transaction } from '../objects/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/admission.ts';
import { formatQuantity, parseQuantity, type Quantity } from '../schema/quantity.ts';
import { type Pod, podOf, refused } from './pod.ts';
import { matchesScopes, type QuotaSpec } from './quota-scopes.ts';
import { type Counted, countName, type Usage, unspecified, usageOf } from './quota-usage.ts';

const storage = '/resourcequotas';

interface Quota extends KubeObject {
  spec?: QuotaSpec;
  status?: { hard?: Record<string, string>; used?: Record<string, string> };
}

const read = (entry: Entry): Quota => JSON.parse(entry.bytes.toString()) as Quota;

export const resourceQuotaPlugin: AdmissionPlugin = {
  name: 'ResourceQuota',
  waits: false,
  concerns: ({ type, namespace, subresource, operation }, { cluster }) =>
    type.namespaced &&
    ((subresource === '' && cluster.objects.count(storage, namespace) > 0) ||
      (type.storage === storage && operation !== 'DELETE') ||
      (type.storage === '/pods' && subresource === 'status' && cluster.objects.count(storage, namespace) > 0)),
  validate(request) {
    if (request.context.dryRun) return;
    // Whoever sees a deletion or a changed quota counts anew, once it has happened.
    if (request.operation === 'DELETE' || request.type.storage === storage) {
      countLater(request.context.cluster, request.namespace);
    }
  },
  account(request, transaction) {
    for (const entry of [...transaction.list(storage, request.namespace)]) charge(request, transaction, entry);
  },
};

function charge(request: AdmissionRequest, transaction: Transaction, entry: Entry): void {
  const quota = read(entry);
  const { spec = {} } = quota;
  const delta = changeOf(request, spec);
  if (delta.size === 0) return;
  const name = entry.name;
  const hard = quantitiesOf(spec.hard ?? {});
  const pod = request.type.storage === '/pods' && request.operation === 'CREATE' ? podOf(request) : undefined;
  const silent = pod && unspecified(pod, hard.keys());
  if (silent !== undefined) throw refused(request, `failed quota: ${name}: must specify ${silent}`);
  const used = usedOf(request.context.cluster, transaction, quota, request.namespace);
  const over: string[] = [];
  for (const [resource, more] of delta) {
    const limit = hard.get(resource);
    const before = used.get(resource) ?? zero;
    if (limit && more.nanos > 0n && before.nanos + more.nanos > limit.nanos) over.push(resource);
  }
  if (over.length > 0) throw refused(request, exceeded(name, over.sort(), delta, used, hard));
  if (request.context.dryRun) return;
  for (const [resource, more] of delta) used.set(resource, sum(used.get(resource) ?? zero, more));
  transaction.put(storage, withUsed(quota, used));
}

function exceeded(name: string, over: readonly string[], delta: Usage, used: Usage, hard: Usage): string {
  const list = (of: Usage): string => over.map((one) => `${one}=${formatQuantity(of.get(one) ?? zero)}`).join(',');
  return `exceeded quota: ${name}, requested: ${list(delta)}, used: ${list(used)}, limited: ${list(hard)}`;
}

const zero: Quantity = { nanos: 0n, format: 'decimal' };

const sum = (a: Quantity, b: Quantity): Quantity => {
  const nanos = a.nanos + b.nanos;
  return { nanos: nanos < 0n ? 0n : nanos, format: a.nanos === 0n ? b.format : a.format };
};

const quantitiesOf = (list: Readonly<Record<string, string>>): Usage =>
  new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(String(text))]));

/** What a request adds to what a quota counts; less than nothing where it gives something back. */
function changeOf({ type, object, old }: AdmissionRequest, spec: QuotaSpec): Usage {
  const counted = { group: type.group, plural: type.plural };
  const after = object && matchesScopes(spec, counted, object) ? usageOf(counted, object) : new Map<string, Quantity>();
  const before = old && matchesScopes(spec, counted, old) ? usageOf(counted, old) : new Map<string, Quantity>();
  const delta: Usage = new Map();
  for (const resource of Object.keys(spec.hard ?? {})) {
    const now = after.get(resource) ?? zero;
    const then = before.get(resource) ?? zero;
    const nanos = now.nanos - then.nanos;
    if (nanos !== 0n) delta.set(resource, { nanos, format: (after.get(resource) ?? then).format });
  }
  return delta;
}

function withUsed(quota: Quota, used: Usage): Quota {
  const names = Object.keys(quota.spec?.hard ?? {}).sort();
  return {
    ...quota,
    status: {
      hard: { ...quota.spec?.hard },
      used: Object.fromEntries(names.map((name) => [name, formatQuantity(used.get(name) ?? zero)])),
    },
  };
}

/** The use that stands in the quota; counted where it does not stand there yet. */
function usedOf(cluster: Cluster, transaction: Transaction, quota: Quota, namespace: string): Usage {
  const names = Object.keys(quota.spec?.hard ?? {});
  const stored = quota.status?.used ?? {};
  if (names.every((name) => Object.hasOwn(stored, name))) return quantitiesOf(stored);
  return countedUse(cluster, transaction, quota.spec ?? {}, namespace);
}

function countedUse(cluster: Cluster, transaction: Transaction, spec: QuotaSpec, namespace: string): Usage {
  const used: Usage = new Map();
  const seen = new Set<string>();
  for (const type of cluster.types.all()) {
    const counted: Counted = { group: type.group, plural: type.plural };
    if (!type.namespaced || seen.has(type.storage) || !isCounted(spec, counted)) continue;
    seen.add(type.storage);
    for (const entry of transaction.list(type.storage, namespace)) {
      const object = JSON.parse(entry.bytes.toString()) as Pod;
      if (!matchesScopes(spec, counted, object)) continue;
      for (const [name, quantity] of usageOf(counted, object)) used.set(name, sum(used.get(name) ?? zero, quantity));
    }
  }
  return used;
}

const podResources = /^(pods$|cpu$|memory$|ephemeral-storage$|limits\.|requests\.(?!storage$))/;
const claimResources = /(^persistentvolumeclaims$|^requests\.storage$|storageclass\.storage\.k8s\.io\/)/;

/** Whether a quota limits anything that objects of this type use. */
function isCounted(spec: QuotaSpec, counted: Counted): boolean {
  const count = countName(counted);
  return Object.keys(spec.hard ?? {}).some((name) => {
    if (name === count) return true;
    if (counted.group !== '') return false;
    if (counted.plural === 'pods') return podResources.test(name);
    if (counted.plural === 'persistentvolumeclaims') return claimResources.test(name);
    return name === counted.plural || (counted.plural === 'services' && name.startsWith('services.'));
  });
}

const due = new WeakMap<Cluster, Set<string>>();

function countLater(cluster: Cluster, namespace: string): void {
  const waiting = due.get(cluster);
  if (waiting) {
    waiting.add(namespace);
    return;
  }
  const namespaces = new Set([namespace]);
  due.set(cluster, namespaces);
  // After the commit that is under way.
  setImmediate(() => {
    due.delete(cluster);
    for (const one of namespaces) {
      countQuotas(cluster, one).catch((error: unknown) => {
        cluster.log.warn({ err: error, namespace: one }, 'quotas could not be counted');
      });
    }
  });
}

/** Counts what a namespace uses and writes it into its quotas where it stands there otherwise. */
export function countQuotas(cluster: Cluster, namespace: string): Promise<void> {
  return cluster.objects.commit((transaction) => {
    for (const entry of [...transaction.list(storage, namespace)]) {
      const quota = read(entry);
      const counted = withUsed(quota, countedUse(cluster, transaction, quota.spec ?? {}, namespace));
      if (JSON.stringify(counted.status) !== JSON.stringify(quota.status)) transaction.put(storage, counted);
    }
  });
}
