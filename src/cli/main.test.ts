import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../bin/aro.ts', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'aro-cli-'));
after(() => rmSync(root, { recursive: true }));

function aro(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8', cwd: root });
  return { code: status, out: stdout, err: stderr };
}

describe('aro', () => {
  it('prints the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const flag of ['--version', '-V']) assert.deepEqual(aro(flag), { code: 0, out: `${version}\n`, err: '' });
  });

  it('prints help on standard output and ends with 0, however it is asked for', () => {
    const { code, out, err } = aro('--help');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^Usage: aro /);
    for (const args of [[], ['help'], ['-h']]) assert.deepEqual(aro(...args), { code, out, err });
  });

  it('lists only commands that work', () => {
    const names = aro('--help')
      .out.split('Commands:\n')[1]
      ?.match(/^ {2}([\w-]+)/gm)
      ?.map((name) => name.trim());
    assert.deepEqual(names, ['pki', 'local', 'deploy', 'maestro-server', 'maestro-agent', 'help']);
    for (const name of names) assert.equal(aro(name, '--help').code, 0);
  });

  it('prints help for a command in all its forms', () => {
    const { code, out } = aro('pki', 'issue', '--help');
    assert.equal(code, 0);
    assert.match(out, /--dns <name\.\.\.>/);
    for (const args of [
      ['help', 'pki', 'issue'],
      ['pki', 'help', 'issue'],
      ['pki', 'issue', '-h'],
    ]) {
      assert.equal(aro(...args).out, out);
    }
    assert.equal(aro('pki').code, 0);
    assert.equal(aro('pki').out, aro('help', 'pki').out);
  });

  for (const [args, message] of [
    [['pkii'], "unknown command 'pkii'\n(Did you mean pki?)"],
    [['nothing-like-it'], "unknown command 'nothing-like-it'\n(aro --help lists the commands)"],
    [['pki', 'isue'], "unknown command 'isue'\n(Did you mean issue?)"],
    [['help', 'pkii'], "unknown command 'pkii'\n(Did you mean pki?)"],
    [['pki', 'isue', '--help'], "unknown command 'isue'\n(Did you mean issue?)"],
    [['--vesion'], "unknown option '--vesion'\n(Did you mean --version?)"],
    [['pki', 'ca', '--dri', 'x'], "unknown option '--dri'\n(Did you mean --dir?)"],
    [['pki', 'ca'], "option '--dir <directory>' is required"],
    [['pki', 'ca', '--dir', ''], "option '--dir <directory>' is empty"],
    [['pki', 'issue', '--dir', '', '--name', 'x'], "option '--dir <directory>' is empty"],
    [['pki', 'issue', '--dir', 'x', '--name', ''], "option '--name <name>' is empty"],
    [['pki', 'ca', '--dir'], "option '--dir <directory>' argument missing"],
    [['pki', 'issue', '--dir', 'x'], "option '--name <name>' is required"],
    [['pki', 'ca', '--dir', 'x', 'stray'], "too many arguments for 'ca'. Expected 0 arguments but got 1."],
  ] as const) {
    it(`answers "aro ${args.join(' ')}" with what is wrong and ends with 2`, () => {
      assert.deepEqual(aro(...args), { code: 2, out: '', err: `aro: ${message}\n` });
    });
  }

  it('ends with 1 and one line when a command fails, and shows the stack with --debug', () => {
    assert.equal(aro('pki', 'ca', '--dir', 'keyless').code, 0);
    rmSync(join(root, 'keyless', 'ca.key'));
    const line = `aro: ${join('keyless', 'ca.key')} cannot be read (ENOENT)\n`;
    assert.deepEqual(aro('pki', 'issue', '--dir', 'keyless', '--name', 'x'), { code: 1, out: '', err: line });
    for (const args of [
      ['--debug', 'pki', 'issue', '--dir', 'keyless', '--name', 'x'],
      ['pki', 'issue', '--dir', 'keyless', '--name', 'x', '--debug'],
    ]) {
      const { code, err } = aro(...args);
      assert.equal(code, 1);
      assert.ok(err.startsWith(line));
      assert.match(err, /PkiError.*\n {4}at /);
      assert.match(err, /caused by: Error: ENOENT/);
    }
  });

  it('ends quietly when nobody reads its output', async () => {
    const child = spawn(process.execPath, [bin, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const err: string[] = [];
    child.stderr.on('data', (text) => err.push(String(text)));
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([code, err.join('')], [0, '']);
  });

  const old = olderNode();
  it(`says in one line what it needs when Node is too old (${old ?? 'none on PATH'})`, (t) => {
    if (!old) return t.skip('there is no older Node on PATH to try it with');
    const { status, stdout, stderr } = spawnSync(old, [bin, '--version'], { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^aro: needs Node 24 or later, this is v\d+\.\d+\.\d+\. .*install Node 24\.\n$/);
  });
});

describe('aro pki', () => {
  it('makes an authority once, with a key that only its owner can read', () => {
    const dir = join(root, 'ca');
    const { code, out, err } = aro('pki', 'ca', '--dir', dir, '--name', 'test authority');
    assert.deepEqual([code, err], [0, '']);
    assert.ok(out.includes(join(dir, 'ca.crt')) && out.includes(join(dir, 'ca.key')));
    const before = readFileSync(join(dir, 'ca.crt'), 'utf8');
    assert.equal(new X509Certificate(before).subject, 'CN=test authority');
    if (process.platform !== 'win32') assert.equal(statSync(join(dir, 'ca.key')).mode & 0o777, 0o600);

    const again = aro('pki', 'ca', '--dir', dir);
    assert.equal(again.code, 1);
    assert.match(again.err, /^aro: .*ca\.crt is there already; .*\n$/);
    assert.equal(readFileSync(join(dir, 'ca.crt'), 'utf8'), before);
  });

  it('says in one line that --dir is a file, or leads through one', () => {
    writeFileSync(join(root, 'file'), '');
    const refused = (dir: string, text: string) => {
      assert.deepEqual(aro('pki', 'ca', '--dir', dir), { code: 1, out: '', err: `aro: ${text}\n` });
    };
    refused('file', 'file is not a directory; choose another');
    refused(join('file', 'below'), `${join('file', 'below')} cannot be a directory: it leads through a file`);
    assert.equal(readFileSync(join(root, 'file'), 'utf8'), '');
  });

  it('says how to make the authority that is not there', () => {
    assert.deepEqual(aro('pki', 'issue', '--dir', 'gone', '--name', 'x'), {
      code: 1,
      out: '',
      err: 'aro: there is no authority in gone; make one with: aro pki ca --dir gone\n',
    });
  });

  it('issues certificates for servers, clients and both, signed by the authority', () => {
    const dir = join(root, 'issue');
    assert.equal(aro('pki', 'ca', '--dir', dir).code, 0);
    const authority = new X509Certificate(readFileSync(join(dir, 'ca.crt')));
    const serverAuth = '1.3.6.1.5.5.7.3.1';
    const clientAuth = '1.3.6.1.5.5.7.3.2';
    const issued = (name: string, ...args: string[]): X509Certificate => {
      const { code, err } = aro('pki', 'issue', '--dir', dir, '--name', name, ...args);
      assert.deepEqual([code, err], [0, '']);
      assert.ok(existsSync(join(dir, `${name}.key`)));
      const certificate = new X509Certificate(readFileSync(join(dir, `${name}.crt`)));
      assert.ok(certificate.verify(authority.publicKey));
      return certificate;
    };
    const server = issued('server', '--dns', 'rp.localhost', 'localhost', '--ip', '127.0.0.1', '--ip', '::1');
    assert.deepEqual(server.keyUsage, [serverAuth]);
    for (const name of ['rp.localhost', 'localhost']) assert.equal(server.checkHost(name), name);
    for (const ip of ['127.0.0.1', '::1']) assert.equal(server.checkIP(ip), ip);
    assert.deepEqual(issued('client').keyUsage, [clientAuth]);
    assert.deepEqual(issued('both', '--server', '--client', '--dns', 'both.localhost').keyUsage, [
      serverAuth,
      clientAuth,
    ]);
    assert.deepEqual(issued('named', '--client', '--dns', 'named.localhost').keyUsage, [clientAuth]);
  });

  it('refuses names that are none, in one line', () => {
    const dir = join(root, 'refuse');
    assert.equal(aro('pki', 'ca', '--dir', dir).code, 0);
    for (const args of [
      ['--name', '../x'],
      ['--name', 'ca'],
      ['--name', 'CA'],
      ['--name', 'Ca'],
      ['--name', 'x', '--server'],
      ['--name', 'x', '--ip', '1.2.3'],
      ['--name', 'x', '--dns', 'a b'],
    ]) {
      const { code, out, err } = aro('pki', 'issue', '--dir', dir, ...args);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(err, /^aro: [^\n]+\n$/);
    }
    assert.ok(!existsSync(join(dir, 'x.crt')));
  });
});

/** The machine's own Node, when it is older than what the program needs. */
function olderNode(): string | undefined {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(dir, name);
    if (dir === '' || dir.split(sep).includes('node_modules') || !existsSync(path)) continue;
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' });
    if (Number(/^v(\d+)/.exec(version)?.[1]) < 24) return path;
  }
  return undefined;
}
