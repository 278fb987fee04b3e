// Leases of blobs and containers.
import { randomUUID } from 'node:crypto';
import { header, httpDate, type StorageAnswer, type StorageCall } from './call.ts';
import type { Lease } from './documents.ts';
import { storageError } from './errors.ts';

export type LeaseState = 'available' | 'leased' | 'expired' | 'breaking' | 'broken';

export function leaseState(lease: Lease | undefined, now: number): LeaseState {
  if (lease === undefined) return 'available';
  if (lease.brokenAt !== undefined) return lease.brokenAt > now ? 'breaking' : 'broken';
  return lease.until !== undefined && lease.until <= now ? 'expired' : 'leased';
}

export function leaseHeaders(lease: Lease | undefined, now: number): { readonly [name: string]: string } {
  const state = leaseState(lease, now);
  const isLocked = state === 'leased' || state === 'breaking';
  return {
    'x-ms-lease-state': state,
    'x-ms-lease-status': isLocked ? 'locked' : 'unlocked',
    ...(state === 'leased' ? { 'x-ms-lease-duration': lease?.until === undefined ? 'infinite' : 'fixed' } : {}),
  };
}

/** Throws 412 when the request may not change what is leased, or names a lease that is not there. */
export function checkLease(
  call: StorageCall,
  lease: Lease | undefined,
  what: 'Blob' | 'Container',
  isWrite: boolean,
): void {
  const given = header(call, 'x-ms-lease-id');
  const state = leaseState(lease, call.world.clock.now());
  const isLocked = state === 'leased' || state === 'breaking';
  if (given === undefined) {
    if (isLocked && isWrite) throw storageError(412, 'LeaseIdMissing');
    return;
  }
  if (!isLocked) {
    throw storageError(412, state === 'available' ? `LeaseNotPresentWith${what}Operation` : 'LeaseLost');
  }
  if (lease?.id.toLowerCase() !== given.toLowerCase()) throw storageError(412, `LeaseIdMismatchWith${what}Operation`);
}

const leaseForm = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

export interface LeaseChange {
  /** Undefined takes the lease away. */
  readonly lease: Lease | undefined;
  readonly answer: Pick<StorageAnswer, 'status' | 'headers'>;
}

/** What a lease action does to the lease there is. */
export function changeLease(call: StorageCall, lease: Lease | undefined): LeaseChange {
  const now = call.world.clock.now();
  const state = leaseState(lease, now);
  const given = header(call, 'x-ms-lease-id');
  const proposed = header(call, 'x-ms-proposed-lease-id');
  if (proposed !== undefined && !leaseForm.test(proposed)) throw storageError(400, 'InvalidHeaderValue');
  const isOwn = lease !== undefined && given !== undefined && lease.id.toLowerCase() === given.toLowerCase();
  switch ((header(call, 'x-ms-lease-action') ?? '').toLowerCase()) {
    case 'acquire': {
      const seconds = Number(header(call, 'x-ms-lease-duration') ?? '-1');
      if (seconds !== -1 && !(Number.isInteger(seconds) && seconds >= 15 && seconds <= 60))
        throw storageError(400, 'InvalidHeaderValue');
      if (state === 'breaking' || (state === 'leased' && lease?.id.toLowerCase() !== proposed?.toLowerCase()))
        throw storageError(409, 'LeaseAlreadyPresent');
      const next = leaseOf(proposed ?? randomUUID(), seconds, now);
      return { lease: next, answer: { status: 201, headers: { 'x-ms-lease-id': next.id } } };
    }
    case 'renew': {
      if (!isOwn) throw storageError(409, 'LeaseIdMismatchWithLeaseOperation');
      if (state === 'breaking' || state === 'broken')
        throw storageError(
          409,
          'LeaseIsBrokenAndCannotBeRenewed',
          'The lease ID matched, but the lease has been broken explicitly and cannot be renewed.',
        );
      const next = leaseOf(lease.id, lease.seconds, now);
      return { lease: next, answer: { status: 200, headers: { 'x-ms-lease-id': next.id } } };
    }
    case 'change': {
      if (proposed === undefined) throw storageError(400, 'MissingRequiredHeader');
      if (state !== 'leased') throw storageError(409, 'LeaseNotPresentWithLeaseOperation');
      if (!isOwn && lease?.id.toLowerCase() !== proposed.toLowerCase())
        throw storageError(409, 'LeaseIdMismatchWithLeaseOperation');
      return {
        lease: { ...(lease as Lease), id: proposed },
        answer: { status: 200, headers: { 'x-ms-lease-id': proposed } },
      };
    }
    case 'release':
      if (!isOwn) throw storageError(409, 'LeaseIdMismatchWithLeaseOperation');
      return { lease: undefined, answer: { status: 200 } };
    case 'break': {
      if (lease === undefined || state === 'available') throw storageError(409, 'LeaseNotPresentWithLeaseOperation');
      const period = header(call, 'x-ms-lease-break-period');
      const left = lease.until === undefined ? 0 : Math.max(0, Math.ceil((lease.until - now) / 1000));
      const seconds =
        period === undefined ? left : lease.until === undefined ? Number(period) : Math.min(Number(period), left);
      if (!(seconds >= 0 && seconds <= 60)) throw storageError(400, 'InvalidHeaderValue');
      return {
        lease: { ...lease, brokenAt: now + seconds * 1000 },
        answer: { status: 202, headers: { 'x-ms-lease-time': String(Math.floor(seconds)) } },
      };
    }
    default:
      throw storageError(400, 'InvalidHeaderValue');
  }
}

function leaseOf(id: string, seconds: number, now: number): Lease {
  return { id, seconds, ...(seconds === -1 ? {} : { until: now + seconds * 1000 }) };
}

export function stateHeaders({ etag, modified }: { readonly etag: string; readonly modified: number }): {
  readonly [name: string]: string;
} {
  return { etag, 'last-modified': httpDate(modified) };
}
