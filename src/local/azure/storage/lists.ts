// Lists of containers and of blobs, in pages.
import type { Filter } from '../../../store/filter.ts';
import { httpDate, type StorageAnswer, type StorageCall } from './call.ts';
import { type BlobBody, type ContainerBody, demandContainer } from './documents.ts';
import { storageError } from './errors.ts';
import { leaseHeaders } from './leases.ts';
import { declaration, element, escaped, field } from './xml.ts';

const pageMax = 5000;

function limitOf({ query }: StorageCall): number {
  const asked = query.maxresults;
  if (asked === undefined || asked === '') return pageMax;
  const limit = Number(asked);
  if (!Number.isInteger(limit) || limit < 1) throw storageError(400, 'OutOfRangeInput');
  return Math.min(limit, pageMax);
}

/** Where the next page starts, sealed against nothing: it names only what its reader may list. */
function markerOf({ query }: StorageCall): string | undefined {
  const { marker } = query;
  return marker === undefined || marker === '' ? undefined : Buffer.from(marker, 'base64url').toString('utf8');
}

function writeMarker(sort: string): string {
  return Buffer.from(sort).toString('base64url');
}

/** Documents whose `sort` begins with something, from a position on. */
async function* inOrder(
  call: StorageCall,
  prefix: string,
  from: string | undefined,
): AsyncGenerator<ContainerBody | BlobBody> {
  let position = from;
  for (;;) {
    const filters: Filter[] = [{ op: 'prefix', field: ['sort'], value: prefix }];
    if (position !== undefined) filters.push({ op: 'ge', field: ['sort'], value: position });
    const { documents } = await call.documents.query({
      partition: call.account.name,
      filter: { op: 'and', filters },
      orderBy: [{ field: ['sort'], type: 'string' }],
      limit: 500,
    });
    for (const { body } of documents) {
      if (body.kind !== 'container' && body.kind !== 'blob') continue;
      yield body;
    }
    const last = documents.at(-1)?.body.sort;
    if (last === undefined || documents.length < 500) return;
    position = `${last}\0`;
  }
}

function metadataXml(metadata: { readonly [name: string]: string } | undefined, wanted: boolean): string {
  if (!wanted) return '';
  return element(
    'Metadata',
    Object.entries(metadata ?? {}).map(([name, value]) => field(name, value)),
  );
}

export async function listContainers(call: StorageCall): Promise<StorageAnswer> {
  const limit = limitOf(call);
  const prefix = call.query.prefix ?? '';
  const wanted = (call.query.include ?? '').split(',');
  const shown: string[] = [];
  let next = '';
  for await (const body of inOrder(call, `containers/${prefix}`, markerOf(call))) {
    if (body.kind !== 'container') continue;
    if (body.name.startsWith('$') && !wanted.includes('system') && body.name !== '$web') continue;
    if (shown.length === limit) {
      next = writeMarker(body.sort);
      break;
    }
    const lease = leaseHeaders(body.lease, call.world.clock.now());
    shown.push(
      element('Container', [
        field('Name', body.name),
        element('Properties', [
          field('Last-Modified', httpDate(body.modified)),
          field('Etag', body.etag),
          field('LeaseStatus', lease['x-ms-lease-status']),
          field('LeaseState', lease['x-ms-lease-state']),
          field('LeaseDuration', lease['x-ms-lease-duration']),
          field('PublicAccess', body.publicAccess),
          field('HasImmutabilityPolicy', false),
          field('HasLegalHold', false),
        ]),
        metadataXml(body.metadata, wanted.includes('metadata')),
      ]),
    );
  }
  return page(call, `ServiceEndpoint="${escaped(call.origin)}"`, [
    ...echoes(call, limit),
    element('Containers', shown),
    element('NextMarker', next),
  ]);
}

function echoes({ query }: StorageCall, limit: number): readonly string[] {
  return [
    field('Prefix', query.prefix),
    field('Marker', query.marker),
    query.maxresults === undefined ? '' : field('MaxResults', limit),
    field('Delimiter', query.delimiter === '' ? undefined : query.delimiter),
  ];
}

function page(_call: StorageCall, attributes: string, content: readonly string[]): StorageAnswer {
  return {
    status: 200,
    body: `${declaration}<EnumerationResults ${attributes}>${content.join('')}</EnumerationResults>`,
  };
}

export async function listBlobs(call: StorageCall): Promise<StorageAnswer> {
  const { documents, account, container, query } = call;
  await demandContainer(documents, account.name, container);
  const limit = limitOf(call);
  const { prefix = '', delimiter = '' } = query;
  const include = (query.include ?? '').split(',');
  const root = `${container}/`;
  const shown: string[] = [];
  let next = '';
  let count = 0;
  let from = markerOf(call);
  // Behind a delimiter everything is skipped at once: the next query starts after the common prefix.
  scan: for (;;) {
    let isSkipping = false;
    for await (const body of inOrder(call, `${root}${prefix}`, from)) {
      if (body.kind !== 'blob') continue;
      if (count === limit) {
        next = writeMarker(body.sort);
        break scan;
      }
      const cut = delimiter === '' ? -1 : body.name.indexOf(delimiter, prefix.length);
      count++;
      if (cut === -1) {
        shown.push(blobXml(call, body, include));
        continue;
      }
      const common = body.name.slice(0, cut + delimiter.length);
      shown.push(element('BlobPrefix', field('Name', common)));
      from = `${root}${common}\u{10ffff}`;
      isSkipping = true;
      break;
    }
    if (!isSkipping) break;
  }
  return page(call, `ServiceEndpoint="${escaped(call.origin)}" ContainerName="${escaped(container)}"`, [
    ...echoes(call, limit),
    element('Blobs', shown),
    element('NextMarker', next),
  ]);
}

function blobXml(call: StorageCall, body: BlobBody, include: readonly string[]): string {
  const { headers } = body;
  const lease = leaseHeaders(body.lease, call.world.clock.now());
  const tags = Object.entries(body.tags ?? {}).map(([key, value]) =>
    element('Tag', [field('Key', key), field('Value', value)]),
  );
  return element('Blob', [
    field('Name', body.name),
    element('Properties', [
      field('Creation-Time', httpDate(body.created)),
      field('Last-Modified', httpDate(body.modified)),
      field('Etag', body.etag.replaceAll('"', '')),
      field('Content-Length', body.length),
      field('Content-Type', headers.contentType ?? 'application/octet-stream'),
      element('Content-Encoding', escaped(headers.contentEncoding ?? '')),
      element('Content-Language', escaped(headers.contentLanguage ?? '')),
      field('Content-MD5', headers.contentMd5),
      field('Content-Disposition', headers.contentDisposition),
      element('Cache-Control', escaped(headers.cacheControl ?? '')),
      field('BlobType', body.type),
      field('AccessTier', body.tier ?? 'Hot'),
      ...(body.tier === undefined ? [field('AccessTierInferred', true)] : []),
      field('LeaseStatus', lease['x-ms-lease-status']),
      field('LeaseState', lease['x-ms-lease-state']),
      field('LeaseDuration', lease['x-ms-lease-duration']),
      field('ServerEncrypted', true),
      ...(tags.length === 0 ? [] : [field('TagCount', tags.length)]),
    ]),
    metadataXml(body.metadata, include.includes('metadata')),
    include.includes('tags') && tags.length > 0 ? element('Tags', element('TagSet', tags)) : '',
  ]);
}
