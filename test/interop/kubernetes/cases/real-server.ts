// A real kube-apiserver with its etcd, in a directory of its own that goes with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWire, type Wire } from './wire.ts';

export interface RealServer {
  readonly wire: Wire;
  stop(): Promise<void>;
}

const token = 'conformance';

/** Starts the programs in a directory (KUBEBUILDER_ASSETS) and waits until they answer. */
export async function startRealServer(programs: string): Promise<RealServer> {
  const folder = await mkdtemp(join(tmpdir(), 'kubernetes-conformance-'));
  const children: ChildProcess[] = [];
  const run = (program: string, ...options: readonly string[]): void => {
    children.push(spawn(join(programs, program), options, { stdio: 'ignore', cwd: folder }));
  };
  const stop = async (): Promise<void> => {
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
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
  );
  for (let attempt = 0; attempt < 240; attempt++) {
    await sleep(250);
    const wire = await openWire(`https://127.0.0.1:${secure}`, token, { rejectUnauthorized: false }, 500).catch(
      () => undefined,
    );
    const ready = await wire?.ask({ method: 'GET', path: '/readyz' }).catch(() => undefined);
    if (wire && ready?.status === 200) {
      return {
        wire,
        async stop() {
          wire.close();
          await stop();
        },
      };
    }
    wire?.close();
  }
  await stop();
  throw new Error('the API server did not become ready');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
