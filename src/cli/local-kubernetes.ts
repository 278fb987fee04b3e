// The embedded Kubernetes as a process of its own, with a kubeconfig for each of its clusters.
import { X509Certificate } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { createLogger } from '../kit/log.ts';
import { runService } from '../kit/run-service.ts';
import type { Running } from '../kit/service.ts';
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
}

/** A host name in lower case, short enough for a cluster's label before it. */
const suffixForm = /^(?=.{1,180}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** A kubeconfig whose certificate ends sooner than this is written anew. */
const renewBeforeMs = 90 * 24 * 3600 * 1000;
const graceSeconds = 5;

/** Runs the servers until a signal; see {@link runService} for how it ends. */
export async function localKubernetes(options: LocalKubernetesOptions): Promise<never> {
  const names = clusterNames(options);
  const suffix = options.hostSuffix;
  if (!suffixForm.test(suffix)) throw new UsageError(`"${suffix}" cannot be a host suffix: it must be a DNS name`);
  const directory = resolve(options.dataDir);
  await makePrivateDirectory(directory);
  await chmod(directory, 0o700);
  const portFile = join(directory, 'kubernetes.port');
  const port = options.port ?? (await rememberedPort(portFile));
  // Standard output is for the person who started it.
  const logger = createLogger({ service: 'kubernetes', level: 'warn', destination: process.stderr });
  const config: KubernetesConfig = {
    logger,
    dataDirectory: directory,
    clusters: names,
    suffix,
    port,
    graceSeconds,
  };
  let told = '';
  const startWithFiles = async (given: KubernetesConfig): Promise<Running> => {
    const running = await start(given);
    try {
      await replaceFile(portFile, `${new URL(running.addresses.https ?? '').port}\n`);
      told = await writeKubeconfigs(running, directory, names);
      for (const name of names) await addNodes(running.clusters.find(name), options.nodes);
    } catch (error) {
      await running.stop();
      throw error;
    }
    return running;
  };
  return runService(startWithFiles, config, {
    name: 'kubernetes',
    logger,
    graceSeconds,
    onReady: () => process.stdout.write(`${told}\nReady. Ctrl-C stops it; what the clusters hold is kept.\n`),
  });
}

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
