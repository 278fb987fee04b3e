// What answers about blobs carry in their headers.
import { httpDate, metadataHeaders } from './call.ts';
import type { BlobBody, ContentHeaders } from './documents.ts';
import { leaseHeaders, stateHeaders } from './leases.ts';

export function blobHeaders(body: BlobBody, now: number): { [name: string]: string } {
  const { headers, metadata, tags, type, created, copy } = body;
  return {
    ...stateHeaders(body),
    'content-type': headers.contentType ?? 'application/octet-stream',
    ...optional('content-encoding', headers.contentEncoding),
    ...optional('content-language', headers.contentLanguage),
    ...optional('content-disposition', headers.contentDisposition),
    ...optional('cache-control', headers.cacheControl),
    'accept-ranges': 'bytes',
    'x-ms-blob-type': type,
    'x-ms-creation-time': httpDate(created),
    'x-ms-server-encrypted': 'true',
    'x-ms-access-tier': body.tier ?? 'Hot',
    ...(body.tier === undefined ? { 'x-ms-access-tier-inferred': 'true' } : {}),
    ...(tags === undefined ? {} : { 'x-ms-tag-count': String(Object.keys(tags).length) }),
    ...(type === 'AppendBlob' ? { 'x-ms-blob-committed-block-count': String(body.pieces.length) } : {}),
    ...(copy === undefined
      ? {}
      : {
          'x-ms-copy-id': copy.id,
          'x-ms-copy-source': copy.source,
          'x-ms-copy-status': 'success',
          'x-ms-copy-progress': `${body.length}/${body.length}`,
          'x-ms-copy-completion-time': httpDate(copy.at),
        }),
    ...metadataHeaders(metadata),
    ...leaseHeaders(body.lease, now),
  };
}

function optional(name: string, value: string | undefined): { readonly [name: string]: string } {
  return value === undefined || value === '' ? {} : { [name]: value };
}

type Get = (name: string) => string | undefined;

/** From `x-ms-blob-…` headers; `plain` names count where those are missing. */
export function contentHeaders(get: Get, plain: boolean): ContentHeaders {
  const one = (name: string): string | undefined => get(`x-ms-blob-${name}`) ?? (plain ? get(name) : undefined);
  const names = {
    contentType: one('content-type'),
    contentEncoding: one('content-encoding'),
    contentLanguage: one('content-language'),
    contentDisposition: get('x-ms-blob-content-disposition'),
    cacheControl: one('cache-control'),
  };
  return Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined && value !== ''));
}
