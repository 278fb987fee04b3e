// A real kube-apiserver with its etcd, for one test file.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Secret } from '../../kit/secret.ts';
import { generateKey, keyPem } from '../../pki/keys.ts';
import { type ClientOptions, createClient, type KubeClient } from '../client.ts';
import { type ClusterAccess, fixedCredential } from '../cluster-access.ts';
import type { SuiteServer } from './runtime-suite.ts';

/** `programs` is the directory of `kube-apiserver` and `etcd`. Everything ends with the test. */
export async function realServer(t: TestContext, programs: string): Promise<SuiteServer> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-kube-'));
  const [etcdPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
  const key = join(directory, 'sa.key');
  const tokens = join(directory, 'tokens.csv');
  await mkdir(join(directory, 'certs'));
  await writeFile(key, keyPem(await generateKey('RSA-2048')));
  await writeFile(tokens, 'admin-token,admin,1,"system:masters"\n', { mode: 0o600 });
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const running = new Set<ChildProcess>();
  const run = (program: string, args: readonly string[]): ChildProcess => {
    const child = spawn(join(programs, program), args, { stdio: 'ignore' });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  };
  t.after(async () => {
    const ends = [...running].map((child) => once(child, 'exit'));
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ends);
    await rm(directory, { recursive: true, force: true });
  });
  run('etcd', [
    ...['--data-dir', join(directory, 'etcd'), '--log-level', 'error', '--unsafe-no-fsync'],
    ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
  ]);
  const startApi = (): ChildProcess =>
    run('kube-apiserver', [
      `--etcd-servers=${etcdUrl}`,
      `--cert-dir=${join(directory, 'certs')}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${tokens}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ]);
  let api = startApi();
  const access: ClusterAccess = {
    server: `https://127.0.0.1:${port}`,
    authorities: () => readFile(join(directory, 'certs', 'apiserver.crt'), 'utf8'),
    credentials: fixedCredential({ token: new Secret('admin-token') }),
    namespace: 'default',
    origin: 'test',
  };
  const client = (options: Partial<ClientOptions> = {}): KubeClient => {
    const made = createClient({ access, userAgent: 'aro/test', ...options });
    t.after(() => made.close());
    return made;
  };
  const ready = async (): Promise<void> => {
    const asking = client({ retry: { attempts: 1 } });
    for (;;) {
      try {
        await asking.raw({ path: '/readyz', timeoutSeconds: 5 });
        return;
      } catch {
        if (api.exitCode !== null) throw new Error(`kube-apiserver ended with ${api.exitCode}`);
        await new Promise((next) => setTimeout(next, 200));
      }
    }
  };
  await ready();
  return {
    access,
    client,
    async restart() {
      const ended = once(api, 'exit');
      api.kill('SIGKILL');
      await ended;
      api = startApi();
      await ready();
    },
    async compact() {
      const call = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
        const answer = await fetch(`${etcdUrl}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
        return (await answer.json()) as { header?: { revision?: string } };
      };
      const { header } = await call('kv/range', { key: Buffer.from('x').toString('base64') });
      await call('kv/compaction', { revision: header?.revision, physical: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
