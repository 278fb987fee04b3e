// Lists over REST: a search compiled to a filter, a page of it, and how many there are in all. Long pages are written as they are
// read, so that no answer is held whole in memory.
import { Readable } from 'node:stream';
import { isStoreError } from '../../store/errors.ts';
import type { Filter } from '../../store/filter.ts';
import type { Container, Page, Query } from '../../store/store.ts';
import { listArguments, projected } from './list-arguments.ts';
import { MaestroError } from './maestro-error.ts';
import { compileSearch, type Searchable } from './search/compile.ts';

/** What is listed, and how. */
export interface Listed<T> {
  readonly kind: 'ConsumerList' | 'ResourceBundleList';
  readonly container: Container<T>;
  readonly searchable: Searchable;
  readonly fields: readonly string[];
  /** One item as JSON. */
  readonly json: (body: T) => string;
  /** The query for a filter (none: everything that lists show); left out, the filter as it is. */
  readonly narrow?: (filter: Filter | undefined) => Pick<Query, 'partition' | 'filter'>;
}

const atOnce = 1000;

/** The answer, or what it is read from. Throws MaestroError 21 for arguments that cannot be read. */
export async function listAnswer<T>(
  listed: Listed<T>,
  query: Readonly<Record<string, unknown>>,
): Promise<string | Readable> {
  const { page, size, search, orderBy, fields } = listArguments(query, listed.searchable, listed.fields);
  const filter = search === '' ? undefined : compileSearch(search, listed.searchable);
  const asked = listed.narrow?.(filter) ?? (filter === undefined ? {} : { filter });
  const item = fields === undefined ? listed.json : (body: T) => projection(listed.json(body), fields);
  try {
    const head = `{"kind":"${listed.kind}","page":${page}`;
    if (size === 0) return `${head},"size":0,"total":${await listed.container.count(asked)},"items":[]}`;
    const offset = (page - 1) * size;
    const more = { ...asked, ...(orderBy.length === 0 ? {} : { orderBy }) };
    const limit = Math.min(size, atOnce);
    const [total, first] = await Promise.all([
      listed.container.count(asked),
      listed.container.query({ ...more, limit, ...(offset === 0 ? {} : { offset }) }),
    ]);
    if (first.continuation === undefined || first.documents.length >= size) {
      const items = first.documents.map(({ body }) => item(body));
      return `${head},"size":${items.length},"total":${total},"items":[${items.join(',')}]}`;
    }
    return Readable.from(pages(listed.container, more, first, size, item, `${head},"total":${total}`), {
      objectMode: false,
    });
  } catch (error) {
    if (isStoreError(error, 'Invalid'))
      throw new MaestroError(21, 'Failed to parse search query: it cannot be asked', { cause: error });
    throw error;
  }
}

async function* pages<T>(
  container: Container<T>,
  query: Query,
  first: Page<T>,
  size: number,
  item: (body: T) => string,
  head: string,
): AsyncGenerator<string> {
  let sent = 0;
  yield `${head},"items":[`;
  for (let page = first; ; ) {
    const items = page.documents.slice(0, size - sent).map(({ body }) => item(body));
    if (items.length > 0) yield `${sent === 0 ? '' : ','}${items.join(',')}`;
    sent += items.length;
    const { continuation } = page;
    if (continuation === undefined || sent >= size) break;
    page = await container.query({ ...query, limit: Math.min(size - sent, atOnce), continuation });
  }
  yield `],"size":${sent}}`;
}

function projection(json: string, fields: readonly (readonly string[])[]): string {
  return JSON.stringify(projected(JSON.parse(json), fields));
}
