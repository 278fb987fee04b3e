// A real kube-apiserver and etcd to measure against.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { progress } from '../harness.ts';
import { clientOf, namespaces } from './client.ts';
import { ended, type Server } from './server.ts';

/** A real API server and its etcd, on free ports. `assets` is the directory of their programs. */
export async function startPeer(assets: string, directory: string): Promise<Server> {
  progress('starting the peer');
  await mkdir(directory, { recursive: true });
  const [client, peering, secure] = [await freePort(), await freePort(), await freePort()];
  const key = join(directory, 'sa.key');
  const tokens = join(directory, 'tokens.csv');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const token = randomUUID();
  await writeFile(key, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  await writeFile(tokens, `${token},bench,1,"system:masters"\n`, { mode: 0o600 });
  const etcdUrl = `http://127.0.0.1:${client}`;
  const run = (name: string, args: readonly string[]): ChildProcess =>
    spawn(join(assets, name), [...args], { stdio: 'ignore' });
  const etcd = run('etcd', [
    ...['--data-dir', join(directory, 'etcd'), '--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', `http://127.0.0.1:${peering}`, '--log-level', 'error'],
  ]);
  const server = run('kube-apiserver', [
    ...[`--etcd-servers=${etcdUrl}`, `--cert-dir=${join(directory, 'certs')}`, `--secure-port=${secure}`],
    ...['--bind-address=127.0.0.1', '--service-account-issuer=https://kubernetes.default.svc'],
    ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`],
    ...['--authorization-mode=RBAC', `--token-auth-file=${tokens}`, '--service-cluster-ip-range=10.0.0.0/24'],
  ]);
  const stop = async (): Promise<void> => {
    await ended(server);
    await ended(etcd);
  };
  const url = `https://127.0.0.1:${secure}`;
  for (let attempt = 0; attempt < 120; attempt++) {
    await sleep(500);
    try {
      const ca = await readFile(join(directory, 'certs', 'apiserver.crt'), 'utf8');
      const access = { url, serverName: 'kubernetes.default.svc', ca, token };
      const trying = await clientOf(access);
      try {
        await trying.call('GET', `${namespaces}/default`);
        return { access, stop };
      } finally {
        trying.close();
      }
    } catch {
      // Not ready yet.
    }
  }
  await stop();
  throw new Error('the real server did not become ready within a minute');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
