// A kubeconfig for a cluster: the address on this machine, the name for the handshake, and a client certificate.
import { Secret } from '../../kit/secret.ts';
import { issueClientCertificate } from '../../pki/authority.ts';
import { keyPem } from '../../pki/keys.ts';
import type { HostedCluster } from './clusters.ts';

export interface KubeconfigUser {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface Kubeconfig {
  readonly ca: string;
  readonly certificate: string;
  readonly key: Secret<string>;
  /** The file as kubectl reads it. */
  readonly text: Secret<string>;
}

const administrator: KubeconfigUser = { name: 'kubernetes-admin', groups: ['system:masters'] };
const yearSeconds = 365 * 24 * 3600;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * Issues a certificate for a user, the administrator unless given, and writes it into a kubeconfig. The server is named by
 * address, since not every resolver knows names under `localhost`; `tls-server-name` selects the cluster.
 */
export async function kubeconfigOf(cluster: HostedCluster, user: KubeconfigUser = administrator): Promise<Kubeconfig> {
  const authority = await cluster.authority();
  // Who asks for one is about to use it.
  setImmediate(cluster.prepare);
  const issued = await issueClientCertificate(authority, {
    commonName: user.name,
    organizations: user.groups,
    lifeSeconds: yearSeconds,
  });
  const ca = authority.certificatePem;
  const certificate = issued.certificatePem;
  const key = keyPem(issued.key);
  const [name, owner] = [JSON.stringify(cluster.name), JSON.stringify(user.name)];
  // Written by hand: what a YAML library takes for it would be a tenth of the time to a cluster's first answer.
  const text = `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${JSON.stringify(cluster.address)}
    tls-server-name: ${JSON.stringify(cluster.hostName)}
    certificate-authority-data: ${base64(ca)}
users:
- name: ${owner}
  user:
    client-certificate-data: ${base64(certificate)}
    client-key-data: ${base64(key)}
contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${owner}
current-context: ${name}
`;
  return { ca, certificate, key: new Secret(key), text: new Secret(text) };
}
