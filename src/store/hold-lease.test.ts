import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { isStoreError, StoreError, type StoreErrorCode } from './errors.ts';
import { type Held, holdLease } from './hold-lease.ts';
import { openSqliteStore } from './sqlite/open.ts';
import type { Claim, Container, Lease, Store } from './store.ts';

interface Job {
  readonly state: 'waiting' | 'begun' | 'done';
}

const leaseSeconds = 2;

let folder: string;
let store: Store;
let jobs: Container<Job>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aro-hold-lease-'));
  store = await openSqliteStore({ file: join(folder, 'store.db') });
  jobs = await store.container<Job>({ name: 'jobs', queue: ({ state }) => (state === 'done' ? undefined : 'any') });
});

after(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** A document of its own, claimed. */
async function claimed(id: string, seconds = leaseSeconds): Promise<Claim<Job>> {
  await jobs.create({ partition: 'p', id }, { state: 'waiting' });
  const claim = await claimAgain(id, seconds);
  if (!claim) throw new Error(`${id} could not be claimed`);
  return claim;
}

function claimAgain(id: string, seconds = leaseSeconds): Promise<Claim<Job> | undefined> {
  return jobs.leases.claimOne({ partition: 'p', id }, { owner: 'worker', leaseSeconds: seconds });
}

/** Settles when the signal aborts, with its reason. */
function aborted({ signal }: Held): Promise<unknown> {
  return new Promise((settle) => {
    if (signal.aborted) settle(signal.reason);
    signal.addEventListener('abort', () => settle(signal.reason), { once: true });
  });
}

/** Leases whose first renewals fail with these codes; later ones reach the database. */
function failingFirst(...codes: StoreErrorCode[]): { renew(lease: Lease): Promise<Lease> } {
  return {
    async renew(lease) {
      const code = codes.shift();
      if (code) throw new StoreError(code, 'made to fail');
      return jobs.leases.renew(lease);
    },
  };
}

const alwaysFailing = { renew: () => Promise.reject(new StoreError('Unavailable', 'made to fail')) };

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

const lost = (error: unknown) => isStoreError(error, 'LeaseLost');

suite('work under a held lease', { concurrency: true }, () => {
  test('may last longer than the lease, and nobody else can claim the document meanwhile', async () => {
    const { document, lease } = await claimed('long');
    const answer = await holdLease(jobs.leases, lease, async (held) => {
      for (const end = performance.now() + 2.5 * leaseSeconds * 1000; performance.now() < end; await setTimeout(100))
        assert.equal(await claimAgain('long'), undefined);
      assert.equal(held.signal.aborted, false);
      assert.ok(held.current().deadline > lease.deadline);
      assert.equal(held.current().token, lease.token);
      return jobs.replace(document, { state: 'done' }, { lease: held.current() });
    });
    assert.equal(answer.body.state, 'done');
  });

  test('goes on when renewals fail, as long as one succeeds before the deadline', async () => {
    const { document, lease } = await claimed('bumpy');
    const errors: unknown[] = [];
    await holdLease(
      failingFirst('Unavailable', 'Busy', 'OutcomeUnknown'),
      lease,
      async (held) => {
        await setTimeout(1.5 * leaseSeconds * 1000);
        await jobs.replace(document, { state: 'done' }, { lease: held.current() });
      },
      { onRenewError: (error) => errors.push(error) },
    );
    assert.deepEqual(
      errors.map((error) => isStoreError(error) && error.code),
      ['Unavailable', 'Busy', 'OutcomeUnknown'],
    );
  });

  test('is aborted at the deadline, not before, when no renewal succeeds', async () => {
    const { lease } = await claimed('cut-off');
    let tries = 0;
    const abortedAt = await holdLease(
      alwaysFailing,
      lease,
      async (held) => {
        assert.ok(lost(await aborted(held)));
        assert.throws(() => held.current(), lost);
        assert.throws(() => held.signal.throwIfAborted(), lost);
        return performance.now();
      },
      { onRenewError: () => tries++ },
    );
    assert.ok(abortedAt >= lease.deadline);
    assert.ok(tries > 2, `${tries} tries`);
  });

  test('is aborted at the deadline although a renewal hangs', async () => {
    const { lease } = await claimed('hanging');
    const reason = await holdLease({ renew: () => new Promise<never>(() => undefined) }, lease, aborted);
    assert.ok(lost(reason));
  });

  test('is aborted when somebody else has the document', async () => {
    const { document, lease } = await claimed('taken');
    await holdLease(jobs.leases, lease, async (held) => {
      await jobs.leases.release(lease);
      const other = await claimAgain('taken');
      assert.ok(other && other.lease.token > lease.token);
      assert.ok(lost(await aborted(held)));
      await assert.rejects(jobs.replace(document, { state: 'done' }, { lease }), lost);
    });
  });

  test('decides the outcome, also when its last write has ended the lease', async () => {
    const { document, lease } = await claimed('last-write');
    const answer = await holdLease(jobs.leases, lease, async (held) => {
      await jobs.replace(document, { state: 'done' }, { lease: held.current() });
      assert.ok(lost(await aborted(held)));
      return 'done';
    });
    assert.equal(answer, 'done');
  });

  test('passes its own error on', async () => {
    const { lease } = await claimed('failing');
    const failure = new Error('work failed');
    await assert.rejects(
      holdLease(jobs.leases, lease, () => Promise.reject(failure)),
      failure,
    );
  });

  test('is not begun under a lease that has lapsed', async () => {
    const { lease } = await claimed('too-late');
    let begun = false;
    const work = async () => {
      begun = true;
    };
    await assert.rejects(holdLease(jobs.leases, { ...lease, deadline: performance.now() - 1 }, work), lost);
    assert.equal(begun, false);
  });
});

suite('holding a lease', () => {
  test('leaves no timer, however work ends', async () => {
    const idle = timers();
    const endings: readonly ((held: Held) => Promise<unknown>)[] = [
      () => Promise.resolve(),
      () => Promise.reject(new Error('work failed')),
      () => {
        throw new Error('work failed at once');
      },
      () => setTimeout(500),
      async (held) => {
        await jobs.leases.release(held.current());
        await aborted(held);
      },
    ];
    for (const [at, work] of endings.entries()) {
      const { lease } = await claimed(`ending-${at}`, 600);
      await holdLease(jobs.leases, lease, work, { renewEverySeconds: 0.2 }).catch(() => undefined);
    }
    // Those left behind would stay for minutes; the store's own come and go.
    for (let look = 0; look < 100 && timers() > idle; look++) await setImmediate();
    assert.ok(timers() <= idle);
  });

  test('tells a process that was frozen past the lease, before it does anything else', async () => {
    const { document, lease } = await claimed('frozen');
    await holdLease(jobs.leases, lease, async (held) => {
      let heard = 0;
      held.signal.addEventListener('abort', () => heard++);
      // Nothing runs in this process meanwhile: no timer, no renewal.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, (leaseSeconds + 0.5) * 1000);
      assert.equal(held.signal.aborted, true);
      assert.equal(heard, 1);
      assert.ok(lost(held.signal.reason));
      assert.throws(() => held.current(), lost);
      await assert.rejects(jobs.replace(document, { state: 'done' }, { lease }), lost);
    });
    assert.ok(await claimAgain('frozen'));
  });
});
