// A real PostgreSQL for tests: its programs come from npm, its data lies in a folder of its own, and it is gone when the
// test process is gone, however that ended.
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Account, program, serverAccount, serverPrograms } from './postgres-binaries.ts';
import type { KeeperOrder, KeeperReport, KeeperTask } from './postgres-keeper.ts';

export interface TestPostgres {
  /** With a password of its own; only loopback is listened on. */
  readonly url: string;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

/** A server that can be taken away and brought back, same port and same data. */
export interface FaultyPostgres extends TestPostgres {
  /** SIGINT: an orderly quick stop. SIGKILL: a crash. Settles when it is down. */
  down(signal: 'SIGINT' | 'SIGKILL'): Promise<void>;
  up(): Promise<void>;
}

const run = promisify(execFile);
const startAttempts = 5;
const upAttempts = 50;

/**
 * Settles when the server takes connections. Its default collation is en-US, not C, so that a forgotten COLLATE shows.
 * `settings` are PostgreSQL's own: `{ max_connections: '10' }`.
 */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<FaultyPostgres> {
  const account = await serverAccount();
  const folder = await mkdtemp(join(tmpdir(), 'aro-postgres-'));
  try {
    await chmod(folder, 0o755);
    const programs = await serverPrograms(account, join(folder, 'native'));
    const password = randomBytes(16).toString('hex');
    const data = join(folder, 'data');
    await makeData(program(programs, 'initdb'), data, folder, password, account);
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const all = { max_connections: '200', ...settings, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
      const keeper = keep({
        command: program(programs, 'postgres'),
        args: [
          '-D',
          data,
          '-p',
          String(port),
          ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
        ],
        account,
        folder,
      });
      const report = await keeper.order({ do: 'start' });
      if (report.running) return serverOf(keeper, `postgres://postgres:${password}@127.0.0.1:${port}/postgres`);
      keeper.abandon();
      // Somebody may have taken the port between the look and the start.
      if (attempt === startAttempts || !report.output.includes('could not bind')) {
        throw new Error(`PostgreSQL does not start: ${report.output}`);
      }
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

let shared: Promise<TestPostgres> | undefined;

/** The server POSTGRES_URL names, or else one for this process, which ends with it. Use a schema of your own in it. */
export function postgresForTests(): Promise<TestPostgres> {
  const url = process.env.POSTGRES_URL;
  shared ??= url ? Promise.resolve({ url, stop: () => Promise.resolve() }) : startPostgres();
  return shared;
}

/** A schema name that nobody else has. */
export function testSchema(): string {
  return `test_${randomBytes(8).toString('hex')}`;
}

async function makeData(
  initdb: string,
  data: string,
  folder: string,
  password: string,
  account: Account | undefined,
): Promise<void> {
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account) for (const path of [folder, passwordFile]) await chown(path, account.uid, account.gid);
  const options = [
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--no-sync',
  ];
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  await run(initdb, ['-D', data, ...options, ...locale], {
    ...account,
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
  });
  await rm(passwordFile);
}

interface Keeper {
  order(order: KeeperOrder): Promise<KeeperReport>;
  end(): Promise<void>;
  /** Lets go of a keeper whose server never ran, without removing the folder. */
  abandon(): void;
}

function keep(task: KeeperTask): Keeper {
  const child = fork(new URL('./postgres-keeper.ts', import.meta.url), [JSON.stringify(task)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });
  // A test that forgets to stop its server must still be able to end.
  unref(child);
  const answers: ((report: KeeperReport) => void)[] = [];
  child.on('message', (report: KeeperReport) => answers.shift()?.(report));
  const gone = new Promise<void>((settle) => child.once('exit', () => settle()));
  return {
    async order(order) {
      const answer = new Promise<KeeperReport>((settle) => answers.push(settle));
      child.send(order);
      const busy = setInterval(() => undefined, 60_000);
      try {
        return await Promise.race([answer, gone.then(() => ({ running: false, output: 'its keeper ended' }))]);
      } finally {
        clearInterval(busy);
      }
    },
    async end() {
      if (child.exitCode !== null || !child.connected) return gone;
      const busy = setInterval(() => undefined, 60_000);
      child.send({ do: 'end' } satisfies KeeperOrder);
      await gone;
      clearInterval(busy);
    },
    abandon() {
      child.kill('SIGKILL');
    },
  };
}

function unref(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function serverOf(keeper: Keeper, url: string): FaultyPostgres {
  return {
    url,
    stop: () => keeper.end(),
    async down(signal) {
      await keeper.order({ do: 'signal', signal });
    },
    async up() {
      // After a crash the old server's processes may hold its memory and port for a moment.
      for (let attempt = 1; ; attempt++) {
        const report = await keeper.order({ do: 'start' });
        if (report.running) return;
        if (attempt === upAttempts) throw new Error(`PostgreSQL does not start again: ${report.output}`);
        await new Promise((settle) => setTimeout(settle, 100));
      }
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((settle, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => settle(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
