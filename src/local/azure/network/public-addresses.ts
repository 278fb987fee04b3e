// Public addresses. They are of 198.18.0.0/15, which is set aside for tests: nothing on the internet has such an address, so what is
// sent to one by mistake reaches nobody. The lower half is for single addresses, the upper for prefixes.
import { createHash } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { idKey } from '../../../arm/resource-id.ts';
import type { Store } from '../../../store/store.ts';
import { addressText, parseCidr } from './cidr.ts';
import { reservationsOf } from './reservations.ts';

const singles = { first: 0xc612_0000, count: 0x1_0000 };
const blocks = { first: 0xc613_0000, count: 0x1_0000 };
const singlePool = 'public addresses';
const blockPool = 'public prefixes';

/** An address that nobody else has, the same for the same owner. */
export async function takePublicAddress(store: Store, owner: string): Promise<string> {
  const address = await take(store, singlePool, owner, singles, 1);
  if (address === undefined) throw exhausted();
  return address;
}

export async function releasePublicAddress(store: Store, owner: string): Promise<void> {
  await (await reservationsOf(store)).release(singlePool, idKey(owner));
}

/** A prefix of this length (28 to 31 bits) that nobody else has, the same for the same owner. */
export async function takePublicPrefix(store: Store, owner: string, length: number): Promise<string> {
  // Every prefix starts at a block of 16, the largest there is, so no two overlap.
  const address = await take(store, blockPool, owner, blocks, 16);
  if (address === undefined) throw exhausted();
  return `${address}/${length}`;
}

export async function releasePublicPrefix(store: Store, owner: string): Promise<void> {
  await (await reservationsOf(store)).release(blockPool, idKey(owner));
}

/** An address out of a prefix; undefined when none is left. */
export async function takeAddressOfPrefix(store: Store, owner: string, prefix: string): Promise<string | undefined> {
  const range = parseCidr(prefix);
  if (range === undefined) return undefined;
  const reservations = await reservationsOf(store);
  const pool = `public prefix ${prefix}`;
  const [there] = await reservations.held(pool, idKey(owner));
  if (there !== undefined) return there;
  for (let value = range.first; value <= range.last; value++) {
    const text = addressText({ version: range.version, value });
    if (await reservations.take(pool, text, idKey(owner))) return text;
  }
  return undefined;
}

/** Whether an owner has an address of a prefix or could get one. */
export async function hasAddressOfPrefix(store: Store, owner: string, prefix: string): Promise<boolean> {
  const range = parseCidr(prefix);
  const taken = await (await reservationsOf(store)).taken(`public prefix ${prefix}`);
  const isHolder = [...taken.values()].includes(idKey(owner));
  return range !== undefined && (isHolder || BigInt(taken.size) <= range.last - range.first);
}

export async function releaseAddressOfPrefix(store: Store, owner: string, prefix: string): Promise<void> {
  await (await reservationsOf(store)).release(`public prefix ${prefix}`, idKey(owner));
}

/** Starts at a place that follows from the owner, so that a cloud made anew mostly has the same addresses. */
async function take(
  store: Store,
  pool: string,
  owner: string,
  range: { readonly first: number; readonly count: number },
  step: number,
): Promise<string | undefined> {
  const reservations = await reservationsOf(store);
  const key = idKey(owner);
  const [there] = await reservations.held(pool, key);
  if (there !== undefined) return there;
  const places = range.count / step;
  const start = createHash('sha256').update(key).digest().readUInt32BE(0) % places;
  for (let tried = 0; tried < places; tried++) {
    const place = (start + tried) % places;
    // The first and the last of the range look like those of a network.
    if (step === 1 && (place === 0 || place === places - 1)) continue;
    const text = addressText({ version: 4, value: BigInt(range.first + place * step) });
    if (await reservations.take(pool, text, key)) return text;
  }
  return undefined;
}

function exhausted(): ArmError {
  return new ArmError(409, 'PublicIPAddressesExhausted', 'No public addresses are left in this cloud.');
}
