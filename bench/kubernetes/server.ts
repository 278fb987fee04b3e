// The embedded server in a process of its own, which answers questions about itself. This file is what both sides of that run.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLogger } from '../../src/kit/log.ts';
import { issueStaticToken } from '../../src/local/kubernetes/access/static-tokens.ts';
import type { HostedCluster } from '../../src/local/kubernetes/clusters.ts';
import { kubeconfigOf } from '../../src/local/kubernetes/kubeconfig.ts';
import { type RunningKubernetes, start } from '../../src/local/kubernetes/main.ts';
import type { Access } from './client.ts';

export interface SubjectOptions {
  readonly dataDirectory: string;
  readonly synchronous: 'FULL' | 'NORMAL';
  /** False for API servers alone, as a real kube-apiserver is one. */
  readonly controllers: boolean;
}

/** What a server process is asked, one at a time. */
type Question =
  /** Adds a cluster where it is not there, and gives access with a token of its own. */
  | { readonly ask: 'token'; readonly cluster: string }
  /** Adds a cluster where it is not there, and gives what its kubeconfig holds. */
  | { readonly ask: 'kubeconfig'; readonly cluster: string }
  /** Gives access to a bare HTTP/2 server in the same process, with certificates alike, that answers the same bytes to everything. */
  | { readonly ask: 'bare' }
  /** After a collection of garbage. */
  | { readonly ask: 'memory' }
  /** Waits until controllers have nothing left to do. */
  | { readonly ask: 'settle' };

export interface Memory {
  readonly rss: number;
  readonly heap: number;
}

export interface Server {
  readonly access: Access;
  stop(): Promise<void>;
}

export interface Subject extends Server {
  token(cluster: string): Promise<Access>;
  kubeconfig(cluster: string): Promise<Access>;
  bare(): Promise<Access>;
  memory(): Promise<Memory>;
  settle(): Promise<void>;
}

export async function startSubject(options: SubjectOptions): Promise<Subject> {
  const child = fork(fileURLToPath(import.meta.url), ['--serve', JSON.stringify(options)], {
    execArgv: ['--expose-gc'],
  });
  const ask = async <Answer>(question: Question): Promise<Answer> => {
    const answer = once(child, 'message');
    child.send(question);
    return (await answer)[0] as Answer;
  };
  const [access] = (await once(child, 'message')) as [Access];
  return {
    access,
    token: (cluster) => ask({ ask: 'token', cluster }),
    kubeconfig: (cluster) => ask({ ask: 'kubeconfig', cluster }),
    bare: () => ask({ ask: 'bare' }),
    memory: () => ask({ ask: 'memory' }),
    settle: () => ask({ ask: 'settle' }),
    stop: () => ended(child),
  };
}

/** Ends a process and waits for it. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

async function serve({ controllers, ...options }: SubjectOptions): Promise<void> {
  const logger = createLogger({ service: 'bench', level: 'silent' });
  const running = await start({
    logger,
    clusters: ['one'],
    ...options,
    ...(controllers ? {} : { controllers: false as const }),
  });
  process.on('message', async (question: Question) => process.send?.(await answer(running, question)));
  process.on('disconnect', () => process.exit());
  process.send?.(await answer(running, { ask: 'token', cluster: 'one' }));
}

async function answer(
  { clusters, controllers }: RunningKubernetes,
  question: Question,
): Promise<Access | Memory | boolean> {
  if (question.ask === 'memory') return settledMemory();
  if (question.ask === 'settle') {
    await controllers?.settled();
    return true;
  }
  if (question.ask === 'bare') return startBare(clusters.create('one'));
  const cluster = clusters.create(question.cluster);
  const place = { url: cluster.address, serverName: cluster.hostName };
  if (question.ask === 'kubeconfig') {
    const { ca, certificate, key } = await kubeconfigOf(cluster);
    return { ...place, ca, certificate: { cert: certificate, key: key.reveal() } };
  }
  const token = await issueStaticToken(cluster.objects, { user: 'bench', groups: ['system:masters'] });
  return { ...place, ca: await cluster.ca(), token: token.reveal() };
}

/** About what a new cluster answers to `get ns`. */
const bareAnswer = Buffer.from('n'.repeat(1800));

async function startBare(cluster: HostedCluster): Promise<Access> {
  const server = createSecureServer({
    ...(await cluster.serverCertificate()),
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.on('session', (session) => session.on('error', () => session.destroy()));
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200 });
    stream.end(bareAnswer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { ca, certificate, key } = await kubeconfigOf(cluster);
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serverName: cluster.hostName,
    ca,
    certificate: { cert: certificate, key: key.reveal() },
  };
}

/** What is left once the collector has had its way. */
async function settledMemory(): Promise<Memory> {
  for (let round = 0; round < 6; round++) {
    globalThis.gc?.();
    await sleep(50);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

if (process.argv[2] === '--serve') await serve(JSON.parse(process.argv[3] ?? '{}') as SubjectOptions);
