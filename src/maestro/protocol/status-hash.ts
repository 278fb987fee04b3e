// The hash of a bundle's status, by which a resync finds what differs. Written the way Go writes JSON of a map, so that it is the
// same as that of an agent in Go for the same status.
import { createHash } from 'node:crypto';
import type { ManifestBundleStatus } from './manifest-bundle.ts';

/** What stands for a bundle that has no status yet. */
export const emptyStatusHash = sha256('');

/** Over the status as a ManifestWork has it: `{conditions, resourceStatus: {manifests}}`, without what is empty. */
export function statusHash(status: Pick<ManifestBundleStatus, 'conditions' | 'resourceStatus'>): string {
  const { conditions, resourceStatus } = status;
  return sha256(
    canonicalJson({
      ...(conditions.length === 0 ? {} : { conditions }),
      resourceStatus: resourceStatus.length === 0 ? {} : { manifests: resourceStatus },
    }),
  );
}

/** JSON with members in order of their names' bytes, no spaces, and `<`, `>`, `&`, U+2028 and U+2029 escaped. */
export function canonicalJson(value: unknown): string {
  return write(value).replace(/[<>&\u2028\u2029]/g, escaped);
}

function write(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`);
  return `{${members.join(',')}}`;
}

/** JavaScript orders by UTF-16, which differs from the order of UTF-8 only beyond U+D800. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** These characters stand only inside texts, where the escape means the same. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
