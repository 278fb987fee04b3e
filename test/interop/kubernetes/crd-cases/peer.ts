// A real kube-apiserver with its etcd, for recording.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Json } from './case.ts';

export interface Peer {
  call(
    method: string,
    path: string,
    body?: Json,
    contentType?: string,
    accept?: string,
  ): Promise<{ readonly status: number; readonly body: Json }>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

/** Starts the programs found in KUBEBUILDER_ASSETS and waits until they answer. */
export async function startPeer(): Promise<Peer> {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (!assets) throw new Error('KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver');
  const folder = mkdtempSync(join(tmpdir(), 'kubernetes-peer-'));
  const token = 'recorder';
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const children: ChildProcess[] = [];
  const run = (program: string, ...parameters: string[]): void => {
    children.push(spawn(join(assets, program), parameters, { stdio: 'ignore', cwd: folder }));
  };
  const [client, own, secure] = [await freePort(), await freePort(), await freePort()];
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
  writeFileSync(join(folder, 'sa.key'), key, { mode: 0o600 });
  writeFileSync(join(folder, 'tokens.csv'), `${token},recorder,1,"system:masters"\n`, { mode: 0o600 });
  const etcd = `http://127.0.0.1:${client}`;
  run(
    'etcd',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
    `--listen-peer-urls=http://127.0.0.1:${own}`,
    '--log-level=error',
  );
  run(
    'kube-apiserver',
    `--etcd-servers=${etcd}`,
    `--cert-dir=${join(folder, 'certs')}`,
    `--secure-port=${secure}`,
    '--bind-address=127.0.0.1',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-key-file=sa.key',
    '--service-account-signing-key-file=sa.key',
    '--authorization-mode=RBAC',
    '--token-auth-file=tokens.csv',
    '--service-cluster-ip-range=10.0.0.0/16',
  );

  const call: Peer['call'] = async (method, path, body, contentType = 'application/json', accept = '*/*') => {
    const response = await request(`https://127.0.0.1:${secure}${path}`, {
      method: method as 'GET',
      dispatcher,
      headers: { authorization: `Bearer ${token}`, 'content-type': contentType, accept, 'user-agent': 'recorder' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: text.startsWith('{') ? (JSON.parse(text) as Json) : text };
  };

  async function stop(): Promise<void> {
    for (const child of children.reverse()) {
      child.kill();
      await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(undefined)));
    }
    await dispatcher.close();
    rmSync(folder, { recursive: true, force: true });
  }

  for (let attempt = 0; attempt < 120; attempt += 1) {
    await sleep(500);
    const ready = await call('GET', '/readyz').catch(() => undefined);
    if (ready?.status === 200) return { call, stop };
  }
  await stop();
  throw new Error('the API server did not become ready');
}
