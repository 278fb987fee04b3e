// The embedded Kubernetes as a process of its own, with a kubeconfig for each of its clusters.
import { X509Certificate } from 'node:crypto';
import { fchmodSync, openSync } from 'node:fs';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { lineWriter } from '../kit/line-writer.ts';
import { createLogger, flushLogger, type Logger } from '../kit/log.ts';
import { runService } from '../kit/run-service.ts';
import type { Running } from '../kit/service.ts';
import type { OidcIssuer } from '../local/kubernetes/access/oidc.ts';
import { type HostedCluster, isClusterName } from '../local/kubernetes/clusters.ts';
import { kubeconfigOf } from '../local/kubernetes/kubeconfig.ts';
import { addNode } from '../local/kubernetes/kubelet/add-node.ts';
import { type KubernetesConfig, type RunningKubernetes, start } from '../local/kubernetes/main.ts';
import { makePrivateDirectory } from '../pki/private-directory.ts';
import { UsageError } from './errors.ts';

export interface LocalKubernetesOptions {
  readonly dataDir: string;
  readonly clusters?: number;
  readonly cluster?: readonly string[];
  /** Simulated nodes in each cluster. */
  readonly nodes: number;
  readonly port?: number;
  readonly hostSuffix: string;
  /** A file, or `-`. */
  readonly auditLog?: string;
  readonly oidcIssuerUrl?: string;
  readonly oidcClientId?: string;
  readonly oidcUsernameClaim?: string;
  readonly oidcGroupsClaim?: string;
  readonly oidcCaFile?: string;
}

/** A host name in lower case, short enough for a cluster's label before it. */
const suffixForm = /^(?=.{1,180}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** A kubeconfig whose certificate ends sooner than this is written anew. */
const renewBeforeMs = 90 * 24 * 3600 * 1000;
const graceSeconds = 5;
/** So many clusters that nobody asked for are named; of more, their number. */
const mostNamed = 10;

/** Runs the servers until a signal; see {@link runService} for how it ends. */
export async function localKubernetes(options: LocalKubernetesOptions): Promise<never> {
  const names = clusterNames(options);
  const suffix = options.hostSuffix;
  if (!suffixForm.test(suffix)) throw new UsageError(`"${suffix}" cannot be a host suffix: it must be a DNS name`);
  const issuer = await oidcIssuer(options);
  const directory = resolve(options.dataDir);
  await makePrivateDirectory(directory);
  await chmod(directory, 0o700);
  const portFile = join(directory, 'kubernetes.port');
  const port = options.port ?? (await rememberedPort(portFile));
  // Standard output is for the person who started it.
  const logger = createLogger({ service: 'kubernetes', level: 'warn', destination: process.stderr });
  const auditLogger = options.auditLog === undefined ? undefined : openAuditLog(options.auditLog);
  const config: KubernetesConfig = {
    logger,
    dataDirectory: directory,
    clusters: names,
    suffix,
    port,
    graceSeconds,
    ...(auditLogger ? { auditLogger } : {}),
    ...(issuer ? { oidc: () => [issuer] } : {}),
  };
  // Outside of the run, so that what keeps it from starting is told in a sentence and not as a line of a log.
  const running = await start(config);
  let told = '';
  const withFiles = async (): Promise<Running> => {
    try {
      await replaceFile(portFile, `${new URL(running.addresses.https ?? '').port}\n`);
      told = (await writeKubeconfigs(running, directory, names)) + others(running, names);
      for (const name of names) await addNodes(running.clusters.find(name), options.nodes);
    } catch (error) {
      await running.stop();
      throw error;
    }
    return {
      ...running,
      async stop() {
        await running.stop();
        if (auditLogger) await flushLogger(auditLogger);
      },
    };
  };
  return runService(withFiles, config, {
    name: 'kubernetes',
    logger,
    graceSeconds,
    onReady: () => process.stdout.write(`${told}\nReady. Ctrl-C stops it; what the clusters hold is kept.\n`),
  });
}

function openAuditLog(file: string): Logger {
  const service = 'kubernetes-audit';
  if (file === '-') return createLogger({ service });
  try {
    const descriptor = openSync(file, 'a', 0o600);
    fchmodSync(descriptor, 0o600);
    return createLogger({ service, destination: lineWriter(descriptor) });
  } catch (cause) {
    throw new Error(`the audit log cannot be written: ${messageOf(cause)}`, { cause });
  }
}

async function oidcIssuer(options: LocalKubernetesOptions): Promise<OidcIssuer | undefined> {
  const { oidcIssuerUrl: url, oidcClientId, oidcUsernameClaim, oidcGroupsClaim, oidcCaFile } = options;
  const given = [url, oidcClientId, oidcUsernameClaim, oidcGroupsClaim, oidcCaFile].some((one) => one !== undefined);
  if (!given) return undefined;
  if (url === undefined || !oidcClientId) {
    throw new UsageError('an issuer needs --oidc-issuer-url and --oidc-client-id, both');
  }
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw new UsageError(`"${url}" cannot be an issuer: it must be an https URL`);
  }
  const ca = oidcCaFile && (await textOf(oidcCaFile));
  if (oidcCaFile !== undefined && !ca) throw new UsageError(`${oidcCaFile} holds no certificates`);
  return {
    url,
    audiences: [oidcClientId],
    ...(oidcUsernameClaim === undefined ? {} : { usernameClaim: oidcUsernameClaim }),
    ...(oidcGroupsClaim === undefined ? {} : { groupsClaim: oidcGroupsClaim }),
    ...(ca ? { ca } : {}),
    // Who starts the server on this machine may name an issuer on this machine.
    allowPrivateAddress: true,
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function addNodes(cluster: HostedCluster | undefined, count: number): Promise<void> {
  if (!cluster) return;
  for (let at = 1; at <= count; at++) await addNode(cluster, { name: `node-${at}` });
}

function clusterNames({ clusters, cluster = [] }: LocalKubernetesOptions): readonly string[] {
  for (const name of cluster) {
    if (!isClusterName(name)) throw new UsageError(`"${name}" cannot name a cluster: it must be a DNS label`);
  }
  const count = clusters ?? (cluster.length > 0 ? 0 : 1);
  return [...new Set([...Array.from({ length: count }, (_, at) => `cluster-${at + 1}`), ...cluster])];
}

/** A line for clusters that are there from before and were not asked for. */
function others(running: RunningKubernetes, names: readonly string[]): string {
  const asked = new Set(names);
  const found = [...running.clusters.list()].map(({ name }) => name).filter((name) => !asked.has(name));
  if (found.length === 0) return '';
  const which = found.length > mostNamed ? `${found.length} clusters` : found.join(', ');
  return `\nAlso served, from before: ${which}. Name them with --cluster to have their kubeconfigs checked and shown.\n`;
}

async function rememberedPort(file: string): Promise<number> {
  const port = Number(await textOf(file));
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : 0;
}

/** Writes the files that are not there or no longer right, and says what there is. */
async function writeKubeconfigs(
  running: RunningKubernetes,
  directory: string,
  names: readonly string[],
): Promise<string> {
  const lines: string[] = [];
  for (const name of names) {
    const cluster = running.clusters.find(name);
    if (!cluster) throw new Error(`cluster ${name} was not made`);
    const file = join(directory, `${name}.kubeconfig`);
    if (!(await isCurrent(file, cluster))) await replaceFile(file, (await kubeconfigOf(cluster)).text.reveal());
    lines.push(`${name}\n  kubeconfig ${file}\n  try        kubectl --kubeconfig ${shellWord(file)} get namespaces\n`);
  }
  return lines.join('');
}

/** Whether a file leads to the cluster as it is now; then it stays, with whatever its user has set in it. */
async function isCurrent(file: string, cluster: HostedCluster): Promise<boolean> {
  const text = await textOf(file);
  if (text === undefined) return false;
  await chmod(file, 0o600);
  try {
    const config = parse(text) as {
      clusters: { name: string; cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const server = config.clusters.find(({ name }) => name === cluster.name)?.cluster ?? {};
    const decoded = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
    const certificate = new X509Certificate(decoded(config.users[0]?.user['client-certificate-data']));
    const authority = await cluster.ca();
    return (
      server.server === cluster.address &&
      server['tls-server-name'] === cluster.hostName &&
      decoded(server['certificate-authority-data']) === authority &&
      certificate.verify(new X509Certificate(authority).publicKey) &&
      certificate.validToDate.getTime() > Date.now() + renewBeforeMs
    );
  } catch {
    // Whatever cannot be read as a kubeconfig is not one.
    return false;
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whoever reads the file meanwhile, or after a crash, finds the old or the new one whole. */
async function replaceFile(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  await writeFile(next, text, { mode: 0o600, flush: true });
  await chmod(next, 0o600);
  await rename(next, file);
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
