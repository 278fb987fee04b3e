// The cluster half of a kubeconfig: where it is, whom to trust, which proxy leads to it.
import { X509Certificate } from 'node:crypto';
import { Secret } from '../kit/secret.ts';
import { AccessError, type ClusterAccess } from './cluster-access.ts';
import { freshFile } from './fresh-file.ts';
import { checkReadable, decoded, type Entry, pathOf } from './kubeconfig-entry.ts';

export interface KubeconfigCluster {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[];
}

type ClusterPart = Pick<ClusterAccess, 'server' | 'serverName' | 'authorities' | 'insecure' | 'proxy'>;

export interface ReachedCluster {
  readonly access: ClusterPart;
  /** What an exec plugin is told of the cluster. */
  readonly pluginInfo: Readonly<Record<string, unknown>>;
}

export function clusterPart(entry: Entry<KubeconfigCluster>, origin: string): ReachedCluster {
  const cluster = entry.value;
  const server = serverOf(cluster.server, origin);
  const file = cluster['certificate-authority'];
  const data = cluster['certificate-authority-data'];
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  if (insecure && (file || data)) {
    throw new AccessError(`${origin}: insecure-skip-tls-verify and a certificate authority exclude each other`);
  }
  // Data takes precedence over a file, as everywhere in kubeconfig files.
  const pem = data ? decoded(data, 'certificate-authority-data', origin) : undefined;
  const path = !data && file ? pathOf(file, entry) : undefined;
  const text = pem ?? (path ? checkReadable(path, 'certificate-authority', origin) : undefined);
  if (text !== undefined) checkAuthorities(text, origin);
  const proxy = proxyOf(cluster['proxy-url'], origin);
  const serverName = cluster['tls-server-name'];

  return {
    access: {
      server,
      ...(serverName ? { serverName } : {}),
      ...(insecure ? { insecure } : {}),
      ...(pem !== undefined ? { authorities: async () => pem } : {}),
      ...(path !== undefined ? { authorities: freshFile(path).text } : {}),
      ...(proxy ? { proxy } : {}),
    },
    pluginInfo: {
      server,
      ...(serverName ? { 'tls-server-name': serverName } : {}),
      ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
      ...(text !== undefined ? { 'certificate-authority-data': Buffer.from(text).toString('base64') } : {}),
      ...(cluster['proxy-url'] ? { 'proxy-url': cluster['proxy-url'] } : {}),
      ...pluginConfig(cluster),
    },
  };
}

function serverOf(server: string | undefined, origin: string): string {
  if (!server) throw new AccessError(`${origin}: the cluster names no server`);
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol)) {
    throw new AccessError(`${origin}: the server ${JSON.stringify(server)} is not an https:// address`);
  }
  if (url.username || url.password)
    throw new AccessError(`${origin}: the server's address holds a user name or password`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function checkAuthorities(pem: string, origin: string): void {
  try {
    new X509Certificate(pem);
  } catch (cause) {
    throw new AccessError(`${origin}: the certificate authority is not a certificate in PEM`, { cause });
  }
}

function proxyOf(text: string | undefined, origin: string): Secret | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new AccessError(`${origin}: proxy-url must be http:// or https://${url ? `, not ${url.protocol}//` : ''}`);
  }
  return new Secret(text);
}

/** The extension that is meant for exec plugins. */
function pluginConfig(cluster: KubeconfigCluster): { readonly config?: unknown } {
  const found = cluster.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec');
  return found ? { config: found.extension } : {};
}
