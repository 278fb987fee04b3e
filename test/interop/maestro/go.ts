// The server and the agent in Go, as processes. They need PostgreSQL, a broker and, for the agent, a kubeconfig.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { postgresForTests } from '../../../src/store/testing/postgres-server.ts';
import { answering, freePort } from './brokers.ts';
import { consumer } from './world.ts';

const topics = (name: string): string =>
  `topics:\n  sourceEvents: sources/maestro/consumers/${name}/sourceevents\n  agentEvents: sources/maestro/consumers/${name}/agentevents\n`;

interface GoProcess {
  readonly child: ChildProcess;
  end(): Promise<void>;
}

function run(t: TestContext, program: string, args: readonly string[]): GoProcess {
  const child = spawn(program, args, { stdio: 'ignore' });
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  t.after(end);
  return { child, end };
}

async function directoryFor(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-maestro-go-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** `broker` is `host:port`. */
export async function goServer(
  t: TestContext,
  program: string,
  broker: string,
): Promise<{ readonly rest: string; readonly grpc: string }> {
  const directory = await directoryFor(t);
  const { url } = await postgresForTests();
  const database = `maestro_${process.pid}_${Date.now()}`;
  const administrator = new Client(url);
  await administrator.connect();
  await administrator.query(`CREATE DATABASE ${database}`);
  t.after(async () => {
    await administrator.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    await administrator.end();
  });
  const at = new URL(url);
  const values = {
    host: at.hostname,
    port: at.port || '5432',
    name: database,
    user: decodeURIComponent(at.username),
    password: decodeURIComponent(at.password),
  };
  const store: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    await writeFile(join(directory, `db.${name}`), value, { mode: 0o600 });
    store.push(`--db-${name}-file=${join(directory, `db.${name}`)}`);
  }
  const mqtt = join(directory, 'mqtt.yaml');
  await writeFile(mqtt, `brokerHost: ${broker}\n${topics('+')}`);
  const [migrated] = await once(run(t, program, ['migration', ...store]).child, 'exit');
  if (migrated !== 0) throw new Error(`the migration ended with ${migrated}`);
  const [rest, grpc, health, metrics] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const { child } = run(t, program, [
    'server',
    ...store,
    `--message-broker-config-file=${mqtt}`,
    '--server-hostname=127.0.0.1',
    `--http-server-bindport=${rest}`,
    `--grpc-server-bindport=${grpc}`,
    `--health-check-server-bindport=${health}`,
    `--metrics-server-bindport=${metrics}`,
  ]);
  await answering(child, rest);
  await answering(child, grpc);
  return { rest: `http://127.0.0.1:${rest}`, grpc: `127.0.0.1:${grpc}` };
}

/** `broker` is `host:port`; `kubeconfig` a text. */
export async function goAgent(
  t: TestContext,
  program: string,
  { broker, kubeconfig }: { readonly broker: string; readonly kubeconfig: string },
): Promise<{ restart(): Promise<void> }> {
  const directory = await directoryFor(t);
  const files = { mqtt: join(directory, 'mqtt.yaml'), kube: join(directory, 'kubeconfig') };
  await writeFile(files.mqtt, `brokerHost: ${broker}\n${topics(consumer)}`);
  await writeFile(files.kube, kubeconfig, { mode: 0o600 });
  const begin = (): GoProcess =>
    run(t, program, [
      'agent',
      `--consumer-name=${consumer}`,
      `--cloudevents-client-id=${consumer}-work-agent`,
      '--workload-source-driver=mqtt',
      `--workload-source-config=${files.mqtt}`,
      `--kubeconfig=${files.kube}`,
    ]);
  let running = begin();
  return {
    async restart() {
      await running.end();
      running = begin();
    },
  };
}
