// Runs before every npm script on whatever Node the machine has (20 or later): installs the locked packages when they
// are missing or older than the lock file. Plain JavaScript, because Node 20 cannot run TypeScript.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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
  const child = npm
    ? spawn(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
    : spawn('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  const started = Date.now();
  const progress = setInterval(() => {
    process.stderr.write(`aro: still installing, ${Math.round((Date.now() - started) / 1000)} s\n`);
  }, 10_000);
  const [status] = await once(child, 'exit');
  clearInterval(progress);
  if (status !== 0) {
    process.stderr.write(
      'aro: npm ci failed (see above). Check the network and the npm registry setting, then run the command again.\n',
    );
    process.exit(status ?? 1);
  }
  process.stderr.write('aro: packages installed\n');
}

// Everything else is TypeScript that Node runs directly. npm scripts find the Node of the packages first; where no package fits
// the platform, the machine's own must do.
const oldest = 24;
const version = execNodeVersion();
if (Number(version.slice(1).split('.')[0]) < oldest) {
  process.stderr.write(
    `aro: needs Node ${oldest} or later. There is no package of it for ${process.platform} ${process.arch}, and the Node found is ${version}: install Node ${oldest} and run the command again.\n`,
  );
  process.exit(1);
}

/** The version of the Node that npm scripts will run on. */
function execNodeVersion() {
  const own = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
  const result = spawnSync(own, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' });
  return result.status === 0 ? result.stdout.trim() : process.version;
}

function modified(path) {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
