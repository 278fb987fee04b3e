import { StoreError } from './errors.ts';
import { checkKey } from './keys.ts';
import type { Version } from './store.ts';

/** A revision is never given twice in a container, so it alone names one version of one document. */
export function etagOf(revision: number): string {
  return String(revision);
}

/** The revision a version names. Throws Changed for a text that is no etag: no document has that version. */
export function revisionOf(version: Version, operation?: number): number {
  checkKey(version);
  const { etag } = version;
  if (typeof etag === 'string' && /^[1-9][0-9]{0,15}$/.test(etag)) {
    const revision = Number(etag);
    if (Number.isSafeInteger(revision)) return revision;
  }
  throw new StoreError('Changed', 'the etag is not one of this document: read it again and repeat the change', {
    ...(operation === undefined ? {} : { operation }),
  });
}
