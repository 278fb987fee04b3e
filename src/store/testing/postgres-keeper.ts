// The process between a test and its PostgreSQL server: starts and stops the server as told over the IPC channel, and when
// the channel closes, however the test process ended, stops the server and removes its folder. Not imported: it is forked.
import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';

export interface KeeperTask {
  readonly command: string;
  readonly args: readonly string[];
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
  /** Removed at the end. */
  readonly folder: string;
}

export type KeeperOrder =
  | { readonly do: 'start' }
  | { readonly do: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly do: 'end' };

/** The answer to every order but `end`, which is answered by the keeper's own exit. */
export interface KeeperReport {
  readonly running: boolean;
  readonly output: string;
}

const task = JSON.parse(process.argv[2] ?? '{}') as KeeperTask;
let server: ChildProcess | undefined;
let ended: Promise<void> = Promise.resolve();

// An interrupt from the terminal reaches the whole process group; the end is for the test process to decide.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('disconnect', () => void end());
process.on('message', (order: KeeperOrder) => void obey(order));

async function obey(order: KeeperOrder): Promise<void> {
  if (order.do === 'end') return end();
  const report = order.do === 'start' ? await start() : await signal(order.signal);
  if (process.connected) process.send?.(report);
}

/** Settles when the server takes connections or has given up. */
function start(): Promise<KeeperReport> {
  const child = spawn(task.command, task.args, {
    ...task.account,
    cwd: task.folder,
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
  });
  server = child;
  return new Promise((settle) => {
    let output = '';
    ended = new Promise((gone) => {
      child.once('error', (error) => {
        settle({ running: false, output: error.message });
        gone();
      });
      child.once('exit', () => {
        if (server === child) server = undefined;
        settle({ running: false, output });
        gone();
      });
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000);
      if (output.includes('database system is ready to accept connections')) settle({ running: true, output: '' });
    });
  });
}

/** Settles when the server has ended. */
async function signal(name: NodeJS.Signals): Promise<KeeperReport> {
  server?.kill(name);
  await ended;
  return { running: false, output: '' };
}

async function end(): Promise<void> {
  const patience = setTimeout(() => server?.kill('SIGKILL'), 10_000);
  await signal('SIGINT');
  clearTimeout(patience);
  await rm(task.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  process.exit(0);
}
