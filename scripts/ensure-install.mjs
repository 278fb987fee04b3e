// Runs before every npm script on whatever Node the machine has (20 or later): installs the locked packages when they
// are missing or older than the lock file. Plain JavaScript, because Node 20 cannot run TypeScript.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** npm writes this file last, so an install that was cut short does not have it. */
const installed = modified(join(root, 'node_modules', '.package-lock.json'));
const locked = modified(join(root, 'package-lock.json'));

if (installed < locked) {
  const first = installed === 0;
  process.stderr.write(
    `aro: ${first ? 'first run here: installing packages' : 'package-lock.json changed: installing again'} (about half a minute)\n`,
  );
  const npm = process.env.npm_execpath;
  const args = ['ci', '--include=optional', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (result.status !== 0) {
    process.stderr.write(
      'aro: npm ci failed (see above). Check the network and the npm registry setting, then run the command again.\n',
    );
    process.exit(result.status ?? 1);
  }
  process.stderr.write('aro: packages installed\n');
}

function modified(path) {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
