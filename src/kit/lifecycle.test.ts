import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeService, PartFailedError } from './lifecycle.ts';
import { createLogger } from './log.ts';
import { createReadiness } from './readiness.ts';

function quiet() {
  const lines: string[] = [];
  return { lines, logger: createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } }) };
}

describe('a composed service', () => {
  it('starts its parts in order and stops them in reverse, each after the one before has ended', async () => {
    const seen: string[] = [];
    const service = await composeService({ name: 'test', logger: quiet().logger }, async (parts) => {
      for (const name of ['store', 'worker', 'listener']) {
        await parts.part(
          name,
          async () => {
            await sleep(1);
            seen.push(`start ${name}`);
            return name;
          },
          async (part) => {
            seen.push(`stopping ${part}`);
            await sleep(5);
            seen.push(`stopped ${part}`);
          },
        );
      }
      parts.address('https', 'https://127.0.0.1:1');
    });
    assert.deepEqual(service.addresses, { https: 'https://127.0.0.1:1' });
    await service.ready;
    await service.stop();
    assert.deepEqual(seen, [
      'start store',
      'start worker',
      'start listener',
      'stopping listener',
      'stopped listener',
      'stopping worker',
      'stopped worker',
      'stopping store',
      'stopped store',
    ]);
    assert.deepEqual(service.stillRunning(), []);
  });

  it("uses a part's own stop where none is given", async () => {
    let stopped = 0;
    const service = await composeService({ name: 'test', logger: quiet().logger }, async (parts) => {
      const part = await parts.part('inner', () => ({ stop: async () => void stopped++, value: 7 }));
      assert.equal(part.value, 7);
      await parts.part('nothing to stop', () => 1);
    });
    await service.stop();
    assert.equal(stopped, 1);
  });

  it('stops what has started when a later part fails, and names that part', async () => {
    const stopped: string[] = [];
    const build = composeService({ name: 'test', logger: quiet().logger }, async (parts) => {
      await parts.part(
        'first',
        () => 1,
        () => stopped.push('first'),
      );
      await parts.part(
        'second',
        () => 2,
        () => stopped.push('second'),
      );
      await parts.part(
        'third',
        () => Promise.reject(new Error('port 8443 is in use')),
        () => stopped.push('third'),
      );
    });
    await assert.rejects(build, (error) => {
      assert.ok(error instanceof PartFailedError);
      assert.equal(error.message, 'test cannot start: third: port 8443 is in use');
      assert.equal(error.part, 'third');
      return true;
    });
    assert.deepEqual(stopped, ['second', 'first']);
  });

  it('stops what has started when the code between parts throws', async () => {
    const stopped: string[] = [];
    const build = composeService({ name: 'test', logger: quiet().logger }, async (parts) => {
      await parts.part(
        'first',
        () => 1,
        () => stopped.push('first'),
      );
      throw new RangeError('between');
    });
    await assert.rejects(build, RangeError);
    assert.deepEqual(stopped, ['first']);
  });

  it('stops once, however often it is asked, and never rejects', async () => {
    const { logger, lines } = quiet();
    const stopped: string[] = [];
    const service = await composeService({ name: 'test', logger }, async (parts) => {
      await parts.part(
        'fine',
        () => 1,
        () => stopped.push('fine'),
      );
      await parts.part(
        'throws',
        () => 1,
        () => {
          throw new Error('cannot close');
        },
      );
    });
    const first = service.stop();
    assert.equal(service.stop(), first);
    await first;
    assert.deepEqual(stopped, ['fine']);
    assert.match(lines.join(''), /throws failed while stopping/);
    assert.match(lines.join(''), /cannot close/);
  });

  it('gives up on a part that hangs when the grace period is over, names it, and still tells the others', async () => {
    const { logger, lines } = quiet();
    const stopped: string[] = [];
    let told = false;
    const service = await composeService({ name: 'test', logger, graceSeconds: 0.05 }, async (parts) => {
      await parts.part(
        'store',
        () => 1,
        () => stopped.push('store'),
      );
      await parts.part(
        'hanging',
        () => 1,
        (_, graceOver) => {
          graceOver.addEventListener('abort', () => {
            told = true;
          });
          return new Promise(() => {});
        },
      );
    });
    await service.stop();
    assert.equal(told, true);
    assert.deepEqual(stopped, ['store']);
    assert.deepEqual(service.stillRunning(), ['hanging']);
    const event = lines.map((line) => JSON.parse(line)).find((line) => line.stillRunning);
    assert.deepEqual(event.stillRunning, ['store', 'hanging']);
  });

  it('tells loops to take up no new work before any part is stopped', async () => {
    const seen: string[] = [];
    const service = await composeService({ name: 'test', logger: quiet().logger }, async (parts) => {
      parts.stopping.addEventListener('abort', () => seen.push('stopping'));
      await parts.part(
        'part',
        () => 1,
        () => seen.push('part'),
      );
    });
    await service.stop();
    assert.deepEqual(seen, ['stopping', 'part']);
  });

  it('is ready when every check has passed, and not ready again while it stops', async () => {
    let up = false;
    let release = (): void => {};
    const service = await composeService({ name: 'test', logger: quiet().logger }, async (parts) => {
      parts.addReadiness('database', () => {
        if (!up) throw new Error('connection refused');
      });
      await parts.part(
        'part',
        () => 1,
        () =>
          new Promise<void>((resolve) => {
            release = resolve;
          }),
      );
    });
    assert.deepEqual(await service.readiness.notReady(), [{ name: 'database', reason: 'connection refused' }]);
    up = true;
    await service.ready;
    assert.deepEqual(await service.readiness.notReady(), []);
    const stopped = service.stop();
    assert.deepEqual(await service.readiness.notReady(), [{ name: 'service', reason: 'stopping' }]);
    release();
    await stopped;
  });

  it('that is stopped before it was ready says what it waited for', async () => {
    const service = await composeService({ name: 'test', logger: quiet().logger }, (parts) => {
      parts.addReadiness('database', () => Promise.reject(new Error('connection refused')));
    });
    await service.stop();
    await assert.rejects(service.ready, /test was stopped before it was ready: .*database \(connection refused\)/);
  });
});

describe('readiness', () => {
  it('counts a check that gives no answer as not ready, and does not start it again meanwhile', async () => {
    let started = 0;
    const readiness = createReadiness({ checkSeconds: 0.02 });
    readiness.addReadiness('slow', () => {
      started++;
      return new Promise(() => {});
    });
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(await readiness.notReady(), [{ name: 'slow', reason: 'gave no answer within 0.02 s' }]);
    }
    assert.equal(started, 1);
  });

  it('tells a check when it has taken too long', async () => {
    const readiness = createReadiness({ checkSeconds: 0.02 });
    const reason = new Promise((resolve) => {
      readiness.addReadiness(
        'slow',
        (signal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              resolve(signal.reason.name);
              reject(signal.reason);
            });
          }),
      );
    });
    await readiness.notReady();
    // The signal's timer alone does not hold the process.
    const hold = setTimeout(() => {}, 10_000);
    assert.equal(await reason, 'TimeoutError');
    clearTimeout(hold);
  });

  it('has one check per name, which can be taken out', async () => {
    const readiness = createReadiness();
    const remove = readiness.addReadiness('x', () => {
      throw 'text';
    });
    assert.throws(() => readiness.addReadiness('x', () => {}), /already a readiness check named x/);
    assert.deepEqual(await readiness.notReady(), [{ name: 'x', reason: 'text' }]);
    remove();
    assert.deepEqual(await readiness.notReady(), []);
  });
});
