// What `aro local azure login` writes, used by az as it is: nothing registered, nobody signed in by hand.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { writeLogin } from '../../../src/cli/local-azure-login.ts';
import { needs } from '../../peers.ts';
import { startCloud, subscriptionId } from './session.ts';

test('az is signed in by the files alone, to Resource Manager and to Graph', async (t) => {
  const program = needs(t, 'az');
  if (program === undefined) return;
  const azure = await startCloud();
  t.after(() => azure.stop());
  const out = await mkdtemp(join(tmpdir(), 'az-login-'));
  t.after(() => rm(out, { recursive: true, force: true, maxRetries: 5 }));
  const { shell } = await writeLogin(azure.dataDirectory, out);
  const lines = (await readFile(shell, 'utf8')).split('\n');
  const env: Record<string, string> = { PATH: process.env.PATH ?? '', HOME: out, USERPROFILE: out };
  for (const line of lines) {
    const [, name, value] = /^export (\w+)='(.*)'$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) env[name] = value;
  }
  const az = async (...args: string[]): Promise<unknown> =>
    JSON.parse(
      (await promisify(execFile)(program, [...args, '--output', 'json', '--only-show-errors'], { env })).stdout,
    );
  assert.equal(((await az('account', 'show')) as { id: string }).id, subscriptionId);
  assert.deepEqual(await az('group', 'list'), []);
  const owner = (await az('ad', 'sp', 'show', '--id', azure.owner.clientId)) as { id: string };
  assert.equal(owner.id, azure.owner.objectId);
});
