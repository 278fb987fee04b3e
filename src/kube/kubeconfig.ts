// Kubeconfig files: which are read, how several make one, and what a context of them means.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { AccessError, type ClusterAccess } from './cluster-access.ts';
import { inClusterAccess, isInCluster } from './in-cluster.ts';
import { clusterPart, type KubeconfigCluster } from './kubeconfig-cluster.ts';
import { checkReadable, type Entry } from './kubeconfig-entry.ts';
import { type KubeconfigUser, userPart } from './kubeconfig-user.ts';

interface KubeconfigContext {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** Several files as one. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface AccessOptions {
  /** A file that must be there; takes precedence over everything else. */
  readonly kubeconfig?: string;
  /** The file's current context unless given. */
  readonly context?: string;
  readonly env?: Environment;
}

/**
 * How to reach a cluster, from the first of: the file given, the files that KUBECONFIG lists, the in-cluster configuration,
 * `~/.kube/config`. Throws {@link AccessError}.
 */
export function loadAccess(options: AccessOptions = {}): ClusterAccess {
  const env = options.env ?? process.env;
  if (options.kubeconfig !== undefined) return accessOf(readKubeconfig([options.kubeconfig]), options.context);
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return accessOf(readKubeconfig(listed.filter(existsOrComplain(listed))), options.context);
  if (options.context === undefined && isInCluster({ env })) return inClusterAccess({ env });
  const home = join(env.HOME || homedir(), '.kube', 'config');
  if (existsSync(home)) return accessOf(readKubeconfig([home]), options.context);
  throw new AccessError(`no cluster is configured: KUBECONFIG is not set, this is no pod, and ${home} is not there`);
}

/** Of the files that KUBECONFIG lists, those that are missing are passed over as long as one is there. */
function existsOrComplain(listed: readonly string[]): (path: string) => boolean {
  if (!listed.some((path) => existsSync(path))) {
    throw new AccessError(`KUBECONFIG names ${listed.join(', ')}, and none of them is there`);
  }
  return existsSync;
}

/**
 * Reads files and makes one of them: the first file to name a context as current decides, and of two entries with the same
 * name the first counts, whole.
 */
export function readKubeconfig(paths: readonly string[]): Kubeconfig {
  return mergeKubeconfigs(
    paths.map((path) => {
      const file = resolve(path);
      return { file, text: checkReadable(file, 'kubeconfig') };
    }),
  );
}

/** As {@link readKubeconfig}, of texts that are already at hand. `file` says what relative paths are relative to. */
export function mergeKubeconfigs(sources: readonly { readonly file: string; readonly text: string }[]): Kubeconfig {
  let currentContext: string | undefined;
  const clusters = new Map<string, Entry<KubeconfigCluster>>();
  const users = new Map<string, Entry<KubeconfigUser>>();
  const contexts = new Map<string, Entry<KubeconfigContext>>();
  for (const { file, text } of sources) {
    const document = parsed(text, file);
    if (typeof document['current-context'] === 'string') currentContext ||= document['current-context'];
    gather(document.clusters, 'cluster', file, clusters);
    gather(document.users, 'user', file, users);
    gather(document.contexts, 'context', file, contexts);
  }
  return {
    files: sources.map(({ file }) => file),
    currentContext: currentContext || undefined,
    clusters,
    users,
    contexts,
  };
}

function parsed(text: string, file: string): Readonly<Record<string, unknown>> {
  let document: unknown;
  try {
    document = parse(text, { logLevel: 'silent' });
  } catch {
    // The parser's message quotes lines of the file, which holds credentials.
    throw new AccessError(`kubeconfig ${file} is not YAML`);
  }
  if (document === null || document === undefined) return {};
  if (typeof document !== 'object' || Array.isArray(document)) {
    throw new AccessError(`kubeconfig ${file} does not hold a configuration`);
  }
  const kind = 'kind' in document ? document.kind : undefined;
  if (kind !== undefined && kind !== 'Config') {
    throw new AccessError(`kubeconfig ${file} holds a ${String(kind)}, not a Config`);
  }
  return document as Readonly<Record<string, unknown>>;
}

function gather<T>(list: unknown, member: string, file: string, into: Map<string, Entry<T>>): void {
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) throw new AccessError(`kubeconfig ${file}: ${member}s is not a list`);
  for (const item of list as readonly (Readonly<Record<string, unknown>> | null)[]) {
    const name = item?.name;
    const value = item?.[member] ?? {};
    if (typeof name !== 'string' || name === '') throw new AccessError(`kubeconfig ${file}: a ${member} has no name`);
    if (typeof value !== 'object') throw new AccessError(`kubeconfig ${file}: ${member} ${name} is not an object`);
    if (!into.has(name)) into.set(name, { value: value as T, file });
  }
}

/** What a context, the current one unless named, means. Reads the files it leads to, so that what is wrong shows now. */
export function accessOf(config: Kubeconfig, contextName?: string): ClusterAccess {
  const files = config.files.join(', ');
  const name = contextName ?? config.currentContext;
  if (name === undefined) {
    throw new AccessError(`kubeconfig ${files} has no current-context; known contexts: ${namesOf(config.contexts)}`);
  }
  const context = config.contexts.get(name);
  if (!context) {
    throw new AccessError(`kubeconfig ${files} has no context ${name}; known contexts: ${namesOf(config.contexts)}`);
  }
  const origin = `kubeconfig ${context.file}, context ${name}`;
  const cluster = config.clusters.get(context.value.cluster ?? '');
  if (!cluster) throw new AccessError(`${origin}: there is no cluster ${context.value.cluster ?? '(none named)'}`);
  const userName = context.value.user;
  const user = userName ? config.users.get(userName) : undefined;
  if (userName && !user) throw new AccessError(`${origin}: there is no user ${userName}`);

  const reached = clusterPart(cluster, origin);
  const { credentials, impersonate, sendsSecrets } = userPart(user, reached.pluginInfo, origin);
  if (sendsSecrets && reached.access.server.startsWith('http:') && !isLoopback(reached.access.server)) {
    throw new AccessError(`${origin}: credentials are not sent to ${reached.access.server} without TLS`);
  }
  return {
    ...reached.access,
    credentials,
    ...(impersonate ? { impersonate } : {}),
    namespace: context.value.namespace || 'default',
    origin,
  };
}

function isLoopback(server: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(server).hostname);
}

function namesOf(entries: ReadonlyMap<string, unknown>): string {
  return [...entries.keys()].join(', ') || 'none';
}
