// Walks over bundles, page by page.
import type { Filter } from '../../store/filter.ts';
import type { BundleDocument, Documents } from './documents.ts';

const atOnce = 500;

/** Those with this value in an indexed field, one of `documents.ts`; with any value, where none is given. */
export async function* eachBundle(
  { bundles }: Documents,
  field: readonly string[],
  value?: string,
): AsyncGenerator<BundleDocument> {
  const filter: Filter = value === undefined ? { op: 'ge', field, value: '' } : { op: 'eq', field, value };
  let continuation: string | undefined;
  do {
    const page = await bundles.query({
      filter,
      limit: atOnce,
      ...(continuation === undefined ? {} : { continuation }),
    });
    for (const { body } of page.documents) yield body;
    continuation = page.continuation;
  } while (continuation !== undefined);
}
