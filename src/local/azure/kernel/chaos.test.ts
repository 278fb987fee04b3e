// The cloud's process is killed again and again while it writes and deletes; what is on disk is looked at after every kill.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSqliteStore } from '../../../store/sqlite/open.ts';
import { openState, operationKey, type Stored } from './state.ts';
import { chaosProviders } from './testing/chaos-providers.ts';
import { counter, step } from './testing/chaos-steps.ts';
import { idOf, openCloud, testRing } from './testing/kernel.ts';

const writer = fileURLToPath(new URL('./testing/chaos-writer.ts', import.meta.url));
const kills = 10;

/** Runs the writer until it kills itself after so many commits. Answers the last number it said. */
async function runAndKill(file: string, key: Buffer, commits: number): Promise<number> {
  const child = spawn(process.execPath, [writer, file, key.toString('hex'), String(commits)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  let last = 0;
  for await (const line of createInterface({ input: child.stdout })) last = Number(line);
  const [code, signal] = await ended;
  assert.equal(signal, 'SIGKILL', `the writer ended by itself (${code}): ${errors}`);
  return last;
}

/** Everything that is stored, by id. */
async function contents(file: string, key: Buffer): Promise<ReadonlyMap<string, Stored>> {
  const store = await openSqliteStore({ file, keyRing: testRing(key) });
  try {
    const state = await openState(store);
    const all = new Map<string, Stored>();
    let continuation: string | undefined;
    do {
      const page = await state.query({ limit: 1000, ...(continuation === undefined ? {} : { continuation }) });
      for (const { id, body } of page.documents) all.set(id, body);
      continuation = page.continuation;
    } while (continuation !== undefined);
    return all;
  } finally {
    await store.close();
  }
}

/** What must hold at every instant. */
function checkWhole(all: ReadonlyMap<string, Stored>): void {
  for (const [id, body] of all) {
    if (body.kind === 'resource') {
      if (body.group !== undefined) assert.ok(all.has(body.group), `${id} has no group`);
      if (body.parent !== undefined) assert.ok(all.has(body.parent), `${id} has no parent`);
      const state = body.resource.properties?.provisioningState;
      if (body.operation !== undefined) {
        const operation = all.get(operationKey(body.operation));
        assert.ok(
          operation?.kind === 'operation' && operation.status === 'Running',
          `${id} has an operation that is none`,
        );
      } else if (body.deleting !== true) assert.equal(state, 'Succeeded', `${id} is in a state that nothing will end`);
    }
    if (body.kind === 'operation' && body.status === 'Running') {
      const resource = all.get(idOf(body.resourceId).key);
      assert.ok(resource?.kind === 'resource', `${id} is about nothing`);
      assert.equal(operationKey(resource.operation ?? ''), id, `${id} is on a resource that does not know of it`);
    }
  }
}

/** When nothing is under way. */
function checkQuiet(all: ReadonlyMap<string, Stored>): void {
  checkWhole(all);
  for (const [id, body] of all) {
    if (body.kind === 'operation') assert.notEqual(body.status, 'Running', `${id} has no end`);
    if (body.kind !== 'resource') continue;
    assert.equal(body.deleting, undefined, `${id} is still going`);
    if (body.type === 'microsoft.test/vaults') {
      const name = all.get(`${body.type}/${body.resource.name}`);
      assert.ok(name?.kind === 'name' && name.owner === id, `${id} does not have its name`);
    }
  }
}

test('after every single commit, nothing is half written: a kill could come there', async (t) => {
  const all = new Map<string, Stored>();
  let commits = 0;
  let broken: unknown;
  const cloud = await openCloud({
    providers: chaosProviders,
    committed(operations) {
      for (const operation of operations) {
        if (operation.kind === 'delete') all.delete(operation.version.id);
        else if (operation.kind === 'create') all.set(operation.id, operation.body as Stored);
        else if (operation.kind === 'replace') all.set(operation.version.id, operation.body as Stored);
      }
      commits++;
      try {
        checkWhole(all);
      } catch (error) {
        broken ??= error;
      }
      // Ended operations only make the look longer.
      for (const [id, body] of all) if (body.kind === 'operation' && body.status !== 'Running') all.delete(id);
    },
  });
  t.after(() => cloud.stop());
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 1000 && broken === undefined; n++) await step(cloud.resources);
    }),
  );
  for (const body of [...all.values()]) if (body.kind === 'operation') await cloud.resources.finished(body.operationId);
  assert.ifError(broken);
  assert.ok(commits > 1000, `${commits} commits`);
  checkQuiet(all);
});

test('killed at any instant, nothing is half written and everything begun comes to its end', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'azure-chaos-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'store.db');
  const key = randomBytes(32);
  for (let kill = 0; kill < kills; kill++) {
    const said = await runAndKill(file, key, kill === 0 ? 300 : randomInt(1, 200));
    const all = await contents(file, key);
    checkWhole(all);
    const counted = all.get(counter.key);
    const n = counted?.kind === 'resource' ? Number(counted.resource.properties?.n) : 0;
    assert.ok(n >= said, 'a write that was acknowledged is gone');
  }

  const cloud = await openCloud({ file, ring: testRing(key), providers: chaosProviders });
  for (const [, body] of await contents(file, key))
    if (body.kind === 'operation' && body.status === 'Running') await cloud.resources.finished(body.operationId);
  await cloud.stop();
  checkQuiet(await contents(file, key));
});
