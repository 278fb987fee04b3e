import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { suite } from 'node:test';
import { code, east, machine, slow, withBoxes } from './testing/boxes.ts';
import { group, groupOptions, idOf, inGroup, openCloud, options, testRing } from './testing/kernel.ts';

suite('after the end of the process', () => {
  test('what was under way goes on', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'azure-kernel-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const place = { file: join(directory, 'store.db'), ring: testRing() };
    const before = await openCloud({ ...place, profile: slow });
    await before.resources.put(idOf(group), east, groupOptions);
    const { operation } = await before.resources.put(machine, east, options);
    const waiting = assert.rejects(before.resources.finished(operation ?? ''), code('ServiceUnavailable', 503));
    await before.stop();
    await waiting;

    const after = await openCloud({ ...place, profile: slow });
    t.after(() => after.stop());
    assert.equal((await after.resources.show(machine)).properties?.provisioningState, 'Creating');
    const finished = after.resources.finished(operation ?? '');
    await after.clock.advance(3_600_000);
    assert.equal((await finished).record?.resource.properties?.provisioningState, 'Succeeded');
  });

  test('an effect that stopping breaks off is done again, not failed', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'azure-kernel-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const place = { file: join(directory, 'store.db'), ring: testRing() };
    const box = inGroup('Microsoft.Test/boxes/b1');
    const begun = Promise.withResolvers<void>();
    const before = await openCloud({
      ...place,
      providers: withBoxes({
        effect: (world) =>
          new Promise((_, reject) => {
            world.stopping.addEventListener('abort', () => reject(world.stopping.reason), { once: true });
            begun.resolve();
          }),
      }),
    });
    await before.resources.put(idOf(group), east, groupOptions);
    const { operation } = await before.resources.put(box, east, options);
    await begun.promise;
    await before.stop();
    const after = await openCloud({ ...place, providers: withBoxes({ effect: async () => ({ made: true }) }) });
    t.after(() => after.stop());
    const { record } = await after.resources.finished(operation ?? '');
    assert.deepEqual(record?.resource.properties, { made: true, provisioningState: 'Succeeded' });
  });
});
