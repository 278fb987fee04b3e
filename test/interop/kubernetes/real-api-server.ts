// A real kube-apiserver with an etcd of its own and, where asked for, kube-controller-manager, in a directory that goes with them.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { findPeer } from '../../peers.ts';

export interface RealApiServer {
  readonly url: string;
  /** Of a user `admin` in `system:masters`. */
  readonly token: string;
  /** PEM of the certificate that the server shows. */
  readonly ca: string;
  /** Asks as the administrator. */
  call(method: string, path: string, options?: CallOptions): Promise<Called>;
  /** Ends the programs and removes what they kept. */
  stop(): Promise<void>;
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
}

export interface Called {
  readonly status: number;
  /** JSON as what it says, anything else as text. */
  readonly body: unknown;
}

export interface RealServerOptions {
  /** More flags for kube-apiserver. */
  readonly flags?: readonly string[];
  /** Whether kube-controller-manager runs too. */
  readonly controllers?: boolean;
  /** What clients of {@link RealApiServer.call} call themselves. */
  readonly userAgent?: string;
}

const token = 'administrator';
const end = '-----END CERTIFICATE-----';

/** Whether a directory of programs holds kube-controller-manager. */
export function hasControllers(programs: string): boolean {
  try {
    accessSync(join(programs, 'kube-controller-manager'), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The directory of programs, for scripts that are nothing without it. */
export function requiredPrograms(): string {
  const found = findPeer('kube');
  if ('missing' in found) throw new Error(found.missing);
  return found.path;
}

/** Starts the programs in a directory (KUBEBUILDER_ASSETS) on free ports and waits until they answer. */
export async function startApiServer(programs: string, options: RealServerOptions = {}): Promise<RealApiServer> {
  const folder = await mkdtemp(join(tmpdir(), 'real-kubernetes-'));
  const children: ChildProcess[] = [];
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const run = (program: string, ...flags: readonly string[]): void => {
    const child = spawn(join(programs, program), flags, { stdio: 'ignore', cwd: folder });
    child.on('error', () => undefined);
    children.push(child);
  };
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await dispatcher.destroy();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
  const url = `https://127.0.0.1:${secure}`;
  const call = (method: string, path: string, more: CallOptions = {}): Promise<Called> =>
    ask(dispatcher, options.userAgent ?? 'recorder', method, url + path, more);
  try {
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    await writeFile(join(folder, 'sa.key'), key.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
    await writeFile(join(folder, 'tokens.csv'), `${token},admin,1,"system:masters"\n`, { mode: 0o600 });
    const etcd = `http://127.0.0.1:${client}`;
    run(
      'etcd',
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${etcd}`,
      `--advertise-client-urls=${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      '--log-level=error',
      '--unsafe-no-fsync',
    );
    run(
      'kube-apiserver',
      `--etcd-servers=${etcd}`,
      `--cert-dir=${join(folder, 'certs')}`,
      `--secure-port=${secure}`,
      '--bind-address=127.0.0.1',
      '--anonymous-auth=false',
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-account-key-file=sa.key',
      '--service-account-signing-key-file=sa.key',
      '--authorization-mode=RBAC',
      '--token-auth-file=tokens.csv',
      '--service-cluster-ip-range=10.0.0.0/16',
      ...(options.flags ?? []),
    );
    await until('the API server is ready', async () => (await call('GET', '/readyz')).status === 200);
    const ca = await readFile(join(folder, 'certs', 'apiserver.crt'), 'utf8');
    if (options.controllers) await startControllers(folder, url, run, call);
    return { url, token, ca, call, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Service accounts of the default namespace are among the first things that controllers make. */
async function startControllers(
  folder: string,
  url: string,
  run: (program: string, ...flags: readonly string[]) => void,
  call: RealApiServer['call'],
): Promise<void> {
  const kubeconfig = join(folder, 'controllers.json');
  await writeFile(kubeconfig, kubeconfigText({ url, token }), { mode: 0o600 });
  // The signer takes one certificate; the first in the server's file is the one of its key.
  const served = await readFile(join(folder, 'certs', 'apiserver.crt'), 'utf8');
  await writeFile(join(folder, 'signer.crt'), `${served.split(end)[0]}${end}\n`);
  run(
    'kube-controller-manager',
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--service-account-private-key-file=sa.key',
    `--root-ca-file=${join(folder, 'certs', 'apiserver.crt')}`,
    '--cluster-signing-cert-file=signer.crt',
    `--cluster-signing-key-file=${join(folder, 'certs', 'apiserver.key')}`,
  );
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await until('the controllers have begun', async () => (await call('GET', account)).status === 200);
}

/** A kubeconfig, which may be JSON. Without a certificate the server's is taken as it is. */
export function kubeconfigText(given: {
  readonly url: string;
  readonly token: string;
  readonly ca?: string;
  readonly serverName?: string;
  readonly namespace?: string;
}): string {
  const { url, ca, serverName, namespace } = given;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'one',
        cluster: {
          server: url,
          ...(ca === undefined
            ? { 'insecure-skip-tls-verify': true }
            : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
          ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
        },
      },
    ],
    users: [{ name: 'admin', user: { token: given.token } }],
    contexts: [
      { name: 'one', context: { cluster: 'one', user: 'admin', ...(namespace === undefined ? {} : { namespace }) } },
    ],
    'current-context': 'one',
  });
}

async function ask(
  dispatcher: Agent,
  userAgent: string,
  method: string,
  url: string,
  { body, contentType = 'application/json', accept = '*/*' }: CallOptions,
): Promise<Called> {
  const answer = await request(url, {
    method: method as 'GET',
    dispatcher,
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType, accept, 'user-agent': userAgent },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const patienceMilliseconds = 60_000;

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMilliseconds;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`it did not come to this: ${what}`);
    await sleep(250);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
