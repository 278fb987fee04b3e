// A worker of leases.test.ts: claims documents in small batches and finishes each under its lease, until it is killed. It
// has bad manners on purpose: it does not listen to the signal that says its lease is lost, and a write that finds another
// version is tried again on the newest one. Only the database can stop it.
import { setTimeout } from 'node:timers/promises';
import { isStoreError } from '../../src/store/errors.ts';
import { holdLease } from '../../src/store/hold-lease.ts';
import type { Claim, Container, Document, Lease } from '../../src/store/store.ts';
import { openAt, taskOf } from './address.ts';
import { nameOf, type Report, type Task, type Work, workContainer } from './work.ts';

const { address, owner, leaseSeconds, batch } = taskOf<Task>();
process.once('disconnect', () => process.exit(0));
const store = await openAt(address);
const container = await store.container(workContainer);
for (;;) {
  const progress = { done: 0, refused: 0 };
  try {
    const claims = await container.leases.claim({ owner, leaseSeconds, max: batch });
    tell({ claimed: claims.map(({ lease }) => [nameOf(lease), lease.token]) });
    const finished = await Promise.all(claims.map((claim) => finish(container, claim)));
    for (const done of finished) progress[done ? 'done' : 'refused']++;
    if (claims.length === 0) await setTimeout(100);
  } catch (error) {
    // One that was frozen finds its connections timed out.
    if (!isStoreError(error, 'Busy', 'Unavailable', 'OutcomeUnknown')) throw error;
    await setTimeout(50);
  }
  tell(progress);
}

function tell(report: Report): void {
  process.send?.(report);
}

/** False when the lease was lost before the work was done. */
async function finish(work: Container<Work>, { document, lease }: Claim<Work>): Promise<boolean> {
  try {
    await holdLease(work.leases, lease, async () => {
      const begun = await write(work, document, 'working', lease);
      // Time for the one that had it before to come back.
      if (lease.dequeues > 1) await setTimeout(200);
      await write(work, begun, 'done', lease);
    });
    return true;
  } catch (error) {
    if (isStoreError(error, 'LeaseLost')) return false;
    throw error;
  }
}

async function write(
  work: Container<Work>,
  document: Document<Work>,
  state: Work['state'],
  lease: Lease,
): Promise<Document<Work>> {
  const next = (body: Work): Work => ({ ...body, state, owner: lease.owner, token: lease.token });
  const nextUnlessWritten = (body: Work) =>
    body.state === state && body.token === lease.token ? undefined : next(body);
  for (let first = true; ; first = false) {
    try {
      if (first) return await work.replace(document, next(document.body), { lease });
      return await work.update(document, nextUnlessWritten, { lease });
    } catch (error) {
      if (!isStoreError(error, 'Busy', 'Changed', 'Unavailable', 'OutcomeUnknown')) throw error;
      await setTimeout(10);
    }
  }
}
