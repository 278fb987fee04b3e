// How a pod reaches the cluster it runs in: its service account's token and the cluster's authority, mounted as files.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../kit/secret.ts';
import { AccessError, type ClusterAccess } from './cluster-access.ts';
import { freshFile } from './fresh-file.ts';

const mountedAt = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where the service account is mounted. */
  readonly directory?: string;
}

/** Whether this process runs in a pod that has a service account. */
export function isInCluster(options: InClusterOptions = {}): boolean {
  const { env = process.env, directory = mountedAt } = options;
  return Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT) && existsSync(join(directory, 'token'));
}

/** Access as the pod's service account. The token is read again as the kubelet renews it. Throws {@link AccessError}. */
export function inClusterAccess(options: InClusterOptions = {}): ClusterAccess {
  const { env = process.env, directory = mountedAt } = options;
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) {
    throw new AccessError(
      'not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; name a kubeconfig file instead',
    );
  }
  const tokenPath = join(directory, 'token');
  if (!existsSync(tokenPath)) {
    throw new AccessError(`${tokenPath} is not there: does the pod set automountServiceAccountToken to false?`);
  }
  const token = freshFile(tokenPath);
  const authorities = freshFile(join(directory, 'ca.crt'));
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    authorities: authorities.text,
    credentials: {
      current: async () => ({ token: new Secret((await token.text()).trim()) }),
      refused: token.forget,
    },
    namespace: readOptional(join(directory, 'namespace')) ?? 'default',
    origin: 'in-cluster configuration',
  };
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
