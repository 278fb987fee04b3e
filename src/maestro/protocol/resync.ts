// The data of requests for a resync.
import { Type } from 'typebox';
import { bodyErrors } from '../../arm/check-body.ts';
import { parseMembers } from './bundle-data.ts';
import { maxResourceVersions, maxStatusHashes } from './limits.ts';
import { type Decoded, decoded, refused } from './refusal.ts';

/** What an agent has of one bundle. */
export interface ResourceVersion {
  readonly resourceID: string;
  readonly resourceVersion: number;
}

/** The last status of one bundle that the sender has seen. */
export interface StatusHash {
  readonly resourceID: string;
  readonly statusHash: string;
}

const text = Type.String({ maxLength: 256 });
const versionsSchema = Type.Object({
  resourceVersions: Type.Array(Type.Object({ resourceID: text, resourceVersion: Type.Integer({ minimum: 0 }) }), {
    maxItems: maxResourceVersions,
  }),
});
// Peers put no more than maxStatusHashes in a request, but nothing on the wire says so: leave them room.
const hashesSchema = Type.Object({
  statusHashes: Type.Array(Type.Object({ resourceID: text, statusHash: text }), { maxItems: maxResourceVersions }),
});

/** From an agent: everything it has. No list, or null, is an agent that has nothing. */
export function parseSpecResync(data: Uint8Array | undefined): Decoded<readonly ResourceVersion[]> {
  return parseList(data, 'resourceVersions', versionsSchema);
}

/** No list, or an empty one, asks for the status of everything. */
export function parseStatusResync(data: Uint8Array | undefined): Decoded<readonly StatusHash[]> {
  return parseList(data, 'statusHashes', hashesSchema);
}

/** The requests that a list of hashes takes: each concerns only the bundles that it names. One, empty, asks for everything. */
export function statusResyncBatches(hashes: readonly StatusHash[]): readonly (readonly StatusHash[])[] {
  if (hashes.length === 0) return [[]];
  const batches: (readonly StatusHash[])[] = [];
  for (let at = 0; at < hashes.length; at += maxStatusHashes) batches.push(hashes.slice(at, at + maxStatusHashes));
  return batches;
}

function parseList<T>(
  data: Uint8Array | undefined,
  name: string,
  schema: Parameters<typeof bodyErrors>[0],
): Decoded<readonly T[]> {
  if (data === undefined || data.byteLength === 0) return refused('invalid-data', 'a request for a resync has no data');
  const members = parseMembers(data);
  if (!members.ok) return members;
  const list = members.value[name] ?? [];
  const [first] = bodyErrors(schema, { [name]: list });
  return first === undefined
    ? decoded(list as readonly T[])
    : refused('invalid-data', `the request for a resync does not have the form of its type at '${first.target}'`);
}
