// Walks over bundles, page by page.
import type { Query } from '../../store/store.ts';
import type { BundleDocument, Documents } from './documents.ts';

const atOnce = 500;

export async function* eachBundle(
  { bundles }: Documents,
  query: Pick<Query, 'partition' | 'filter'>,
): AsyncGenerator<BundleDocument> {
  let continuation: string | undefined;
  do {
    const page = await bundles.query({
      ...query,
      limit: atOnce,
      ...(continuation === undefined ? {} : { continuation }),
    });
    for (const { body } of page.documents) yield body;
    continuation = page.continuation;
  } while (continuation !== undefined);
}
