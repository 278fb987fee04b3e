// The two engines as the chaos tests use them, and the processes they start and kill.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, testSchema } from '../../src/store/testing/postgres-server.ts';
import type { Address } from './address.ts';

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
    if (given) return { address: { engine: 'postgres', url: given, schema }, remove: () => Promise.resolve() };
    // Its clients are killed, never the server itself, so nothing hangs on the disk.
    const server = await startPostgres({ fsync: 'off', synchronous_commit: 'off' });
    return { address: { engine: 'postgres', url: server.url, schema }, remove: () => server.stop() };
  },
};

/** Starts a script of this folder in a process of its own; it gets `task` as JSON in its first argument. */
export function startProcess(script: string, task: unknown): ChildProcess {
  return fork(new URL(script, import.meta.url), [JSON.stringify(task)], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'aro-compile-cache') },
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
