// The two engines as the chaos tests use them, and the processes they start and kill.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres, testSchema } from '../../src/store/testing/postgres-server.ts';
import type { Address } from './address.ts';

/** Shared by the processes of one run: they start often, and most of a start is compiling. */
const compileCache = mkdtempSync(join(tmpdir(), 'aro-chaos-cache-'));
process.once('exit', () => rmSync(compileCache, { recursive: true, force: true }));

export interface Place {
  readonly address: Address;
  remove(): Promise<void>;
}

/** Where a test's documents are to be, on each engine. */
export const places: Readonly<Record<'SQLite' | 'PostgreSQL', () => Promise<Place>>> = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'aro-chaos-'));
    return {
      address: { engine: 'sqlite', file: join(folder, 'store.db') },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  },
  async PostgreSQL() {
    const schema = testSchema();
    const given = process.env.POSTGRES_URL;
    if (given) return { address: { engine: 'postgres', url: given, schema }, remove: () => dropSchema(given, schema) };
    // Its clients are killed, never the server itself, so nothing hangs on the disk.
    const server = await startPostgres({ fsync: 'off', synchronous_commit: 'off' });
    return { address: { engine: 'postgres', url: server.url, schema }, remove: () => server.stop() };
  },
};

async function dropSchema(url: string, schema: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await client.end();
}

/** Starts a script of this folder in a process of its own; which finds its task by taskOf(). */
export function startProcess(script: string, task: unknown): ChildProcess {
  return fork(new URL(script, import.meta.url), {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Not an argument: those can be read by everybody on the machine, and a task may hold the database's password.
    env: { ...process.env, CHAOS_TASK: JSON.stringify(task), NODE_COMPILE_CACHE: compileCache },
  });
}

/** Settles when the process is gone. */
export function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((settle) => child.once('exit', () => settle()));
}

/** Prints a line at once, with the seconds since this was called. */
export function stopwatch(name: string): (text: string) => void {
  const began = performance.now();
  return (text) => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(5);
    process.stdout.write(`${name} ${seconds} s: ${text}\n`);
  };
}
