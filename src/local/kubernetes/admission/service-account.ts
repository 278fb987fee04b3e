// Every pod runs as a service account, and finds a token of it where programs look for one.
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Objects } from '../objects/objects.ts';
import type { AdmissionPlugin } from '../registry/admission.ts';
import { createsPod, isMirror, type Pod, podOf, refused } from './pod.ts';

interface ServiceAccount {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}

const storage = '/serviceaccounts';
const defaultAccount = 'default';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Not a round hour, so that such tokens are told from those that were asked for. */
const tokenSeconds = 3607;

export const serviceAccountPlugin: AdmissionPlugin = {
  name: 'ServiceAccount',
  waits: false,
  concerns: createsPod,
  mutate(request) {
    const pod = podOf(request);
    if (!pod || isMirror(pod)) return;
    const { spec } = pod;
    const name = spec.serviceAccountName || spec.serviceAccount || defaultAccount;
    spec.serviceAccountName = name;
    spec.serviceAccount = name;
    const account = accountOf(request.context.cluster.objects, request.namespace, name);
    if (!account) {
      const why = `error looking up service account ${request.namespace}/${name}: serviceaccount "${name}" not found`;
      throw refused(request, why);
    }
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(pod);
    const secrets = account.imagePullSecrets ?? [];
    if ((spec.imagePullSecrets ?? []).length === 0 && secrets.length > 0) {
      spec.imagePullSecrets = secrets.map((secret) => ({ ...secret }));
    }
  },
};

const attempts = 10;
const betweenMs = 100;

/** A new namespace gets its default account a moment after it is made; a pod that comes sooner waits for that. */
export const awaitDefaultAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  waits: true,
  concerns: (target, { cluster }) =>
    createsPod(target) && !cluster.objects.get(storage, target.namespace, defaultAccount),
  async mutate(request) {
    const pod = podOf(request);
    const { cluster, signal } = request.context;
    const named = pod?.spec.serviceAccountName || defaultAccount;
    if (!pod || named !== defaultAccount || !cluster.objects.get('/namespaces', '', request.namespace)) return;
    for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
      if (cluster.objects.get(storage, request.namespace, defaultAccount)) return;
      await wait(betweenMs);
    }
  },
};

function accountOf(objects: Objects, namespace: string, name: string): ServiceAccount | undefined {
  const entry = objects.get(storage, namespace, name);
  return entry && (JSON.parse(entry.bytes.toString()) as ServiceAccount);
}

function mountToken({ spec }: Pod): void {
  const without = [...(spec.initContainers ?? []), ...spec.containers].filter(
    (container) => !(container.volumeMounts ?? []).some((mount) => mount.mountPath === mountPath),
  );
  if (without.length === 0) return;
  const name = `kube-api-access-${suffix()}`;
  for (const container of without) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  }
  spec.volumes = [...(spec.volumes ?? []), { name, projected: projectedToken() }];
}

const projectedToken = (): object => ({
  sources: [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ],
  defaultMode: 0o644,
});

/** Without vowels and what looks alike, as generated names are. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffix = (): string => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
