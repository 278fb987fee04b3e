import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ClientSecretCredential } from '@azure/identity';
import { Agent, request } from 'undici';

const bin = fileURLToPath(new URL('../../bin/aro.ts', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'aro-azure-'));
after(() => rmSync(root, { recursive: true, maxRetries: 5 }));

async function started(
  t: TestContext,
  ...args: string[]
): Promise<{ readonly child: ChildProcess; readonly out: string }> {
  const child = spawn(process.execPath, [bin, 'local', 'azure', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stderr.on('data', (part: Buffer) => {
    err += part;
  });
  for await (const part of child.stdout) {
    out += part;
    if (out.includes('Ready.')) break;
  }
  assert.match(out, /Ready\./, err);
  return { child, out };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await exit)[0];
}

const aro = (...args: string[]) => spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8', cwd: root });

/** The variables of a file that is meant for a shell. */
function variables(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => [/^export (\w+)='(.*)'$/.exec(line)?.slice(1) ?? []].filter(([name]) => name)),
  );
}

describe('aro local azure', () => {
  it('runs a cloud, and writes a login for it that works, also after it was killed and started again', async (t) => {
    const directory = join(root, 'data');
    const args = ['--data-dir', 'data', '--profile', 'instant'];
    const first = await started(t, ...args);
    assert.match(first.out, /Resource Manager {2}https:\/\/localhost:\d+\n/);
    const login = aro('local', 'azure', 'login', '--data-dir', 'data', '--dir', 'login');
    assert.equal(login.status, 0, login.stderr);
    const env = variables(join(root, 'login', 'env.sh'));
    for (const name of [
      'AZURE_CONFIG_DIR',
      'REQUESTS_CA_BUNDLE',
      'HTTPS_PROXY',
      'ARM_CLOUD_METADATA_URL',
      'NODE_EXTRA_CA_CERTS',
    ])
      assert.ok(env[name], name);
    if (process.platform !== 'win32') {
      for (const file of ['env.sh', 'env.ps1', 'az/service_principal_entries.json'])
        assert.equal(statSync(join(root, 'login', file)).mode & 0o777, 0o600, file);
    }
    const secret = readFileSync(join(directory, 'owner-secret'), 'utf8').trim();
    assert.equal(env.AZURE_CLIENT_SECRET, secret);
    assert.ok(!first.out.includes(secret) && !login.stdout.includes(secret));

    const ca = readFileSync(env.REQUESTS_CA_BUNDLE ?? '', 'utf8');
    const agent = new Agent({ connect: { ca } });
    t.after(() => agent.destroy());
    const origin = new URL(env.ARM_CLOUD_METADATA_URL ?? '').origin;
    const clouds = await request(env.ARM_CLOUD_METADATA_URL ?? '', { dispatcher: agent });
    assert.equal(((await clouds.body.json()) as { name: string }[])[0]?.name, 'AroLocal');
    const group = `${origin}/subscriptions/${env.AZURE_SUBSCRIPTION_ID}/resourceGroups/g?api-version=2021-04-01`;
    const call = async (method: 'GET' | 'PUT', body?: object): Promise<number> => {
      const credential = new ClientSecretCredential(
        env.AZURE_TENANT_ID ?? '',
        env.AZURE_CLIENT_ID ?? '',
        env.AZURE_CLIENT_SECRET ?? '',
        { authorityHost: env.AZURE_AUTHORITY_HOST ?? '', disableInstanceDiscovery: true, tlsOptions: { ca } },
      );
      const { token } = await credential.getToken(`${origin}/.default`);
      const answer = await request(group, {
        method,
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      await answer.body.dump();
      return answer.statusCode;
    };
    assert.equal(await call('PUT', { location: 'eastus' }), 201);
    await ended(first.child, 'SIGKILL');
    const second = await started(t, ...args);
    assert.equal(await call('GET'), 200);
    assert.equal(await ended(second.child, 'SIGTERM'), 0);

    const late = aro('local', 'azure', 'login', '--data-dir', 'data');
    assert.equal(late.status, 1);
    assert.match(late.stderr, /does not answer at https:\/\/localhost:\d+: start it first/);
  });

  it('has what a file says', async (t) => {
    const subscriptionId = 'aaaaaaaa-0000-4000-8000-000000000001';
    const appId = 'bbbbbbbb-0000-4000-8000-000000000001';
    const objectId = 'bbbbbbbb-0000-4000-8000-000000000002';
    writeFileSync(
      join(root, 'cloud.yaml'),
      `subscriptions:
  - subscriptionId: ${subscriptionId}
    register: [Microsoft.Network]
locations:
  - { name: moonbase, displayName: Moon Base, zones: false }
owners: [${objectId}]
directory:
  users: [{ userPrincipalName: ada@example.com, displayName: Ada, password: correct-horse-1 }]
  applications: [{ displayName: robot, appId: ${appId}, objectId: ${objectId}, secret: { file: robot.secret } }]
throttling:
  reads: { capacity: 3, refillPerSecond: 0.001 }
  writes: { capacity: 1000, refillPerSecond: 100 }
  deletes: { capacity: 1000, refillPerSecond: 100 }
faults:
  - match: { method: GET, path: '**/locat*' }
    effect: { kind: error, status: 503, code: Busy }
`,
    );
    writeFileSync(join(root, 'robot.secret'), 'a-secret-for-the-robot\n');
    const { child, out } = await started(
      t,
      '--data-dir',
      'configured',
      '--profile',
      'instant',
      '--config',
      'cloud.yaml',
    );
    assert.ok(out.includes(subscriptionId));
    const [, origin = ''] = /Resource Manager {2}(\S+)/.exec(out) ?? [];
    const ca = readFileSync(join(root, 'configured', 'ca.pem'), 'utf8');
    const agent = new Agent({ connect: { ca } });
    t.after(() => agent.destroy());
    const credential = new ClientSecretCredential(
      '72f90000-86f1-41af-91ab-2d7cd0110000',
      appId,
      'a-secret-for-the-robot',
      { authorityHost: origin, disableInstanceDiscovery: true, tlsOptions: { ca } },
    );
    const { token } = await credential.getToken(`${origin}/.default`);
    const get = async (path: string) => {
      const answer = await request(`${origin}/subscriptions/${subscriptionId}${path}?api-version=2021-04-01`, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}` },
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    };
    assert.match((await get('/providers/Microsoft.Network')).text, /"registrationState":"Registered"/);
    assert.match((await get('/providers/Microsoft.Compute')).text, /"registrationState":"NotRegistered"/);
    const busy = await get('/locations');
    assert.equal(busy.status, 503, busy.text);
    assert.equal((await get('')).status, 429);
    await ended(child, 'SIGTERM');
  });

  for (const [args, status, message] of [
    [[], 2, "option '--data-dir <directory>' is required"],
    [['--data-dir', 'x', '--profile', 'fast'], 2, 'Allowed choices are instant, demo, azure'],
    [['--data-dir', 'x', '--suffix', '.x'], 2, 'cannot be the cloud'],
    [['--data-dir', 'x', '--subscription', 'mine'], 2, 'is not a GUID'],
    [['--data-dir', 'x', '--config', 'none.yaml'], 1, 'none.yaml'],
    [['login', '--data-dir', 'nothing-here'], 1, 'holds no cloud: start one first'],
    [['login'], 2, "option '--data-dir <directory>' is required"],
  ] as const) {
    it(`says what is wrong with: ${args.join(' ') || 'no options'}`, () => {
      const ran = aro('local', 'azure', ...args);
      assert.ok(ran.stderr.includes(message), ran.stderr);
      assert.equal(ran.status, status);
    });
  }
});
