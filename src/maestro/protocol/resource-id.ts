// The id of a bundle, from who it is from, where it goes and what it is called: the same every time, so that creating it
// again after a crash finds the one that is there.
import { createHash } from 'node:crypto';

/** RFC 4122's namespace for object identifiers. */
const oidNamespace = Buffer.from('6ba7b8129dad11d180b400c04fd430c8', 'hex');

/** As the source client in Go makes it. */
export function resourceId(sourceId: string, consumer: string, workName: string): string {
  return uuidV5(`${sourceId}-manifestworks.work.open-cluster-management.io-${consumer}-${workName}`);
}

function uuidV5(name: string): string {
  const hash = createHash('sha1').update(oidNamespace).update(name).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
