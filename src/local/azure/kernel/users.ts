// Who uses a resource, and so keeps it from being deleted.
import { ArmError } from '../../../arm/errors.ts';
import { parseResourceId } from '../../../arm/resource-id.ts';
import type { Document } from '../../../store/store.ts';
import type { Kernel } from './kernel.ts';
import type { ResourceRecord } from './record.ts';
import { isWithin } from './references.ts';
import { asResource, isUsing, type StoredResource } from './state.ts';

/** Users that an error names. */
const shownUsers = 20;

/** Who uses a resource, those within `root` left out. */
export async function usersOf(kernel: Kernel, key: string, root: string): Promise<readonly Document<StoredResource>[]> {
  const users: Document<StoredResource>[] = [];
  let continuation: string | undefined;
  do {
    const page = await kernel.state.query({
      filter: isUsing(key),
      limit: 1000,
      ...(continuation === undefined ? {} : { continuation }),
    });
    for (const document of page.documents) {
      const user = asResource(document);
      if (user === undefined || isWithin(user.id, root)) continue;
      const holds = kernel.catalogue.find(user.body.type)?.definition.holds;
      if (holds === undefined || holds(user.body.references[key] ?? '')) users.push(user);
    }
    continuation = page.continuation;
  } while (continuation !== undefined);
  return users;
}

/** Throws when something outside of `root` uses one of these. */
export async function demandUnused(
  kernel: Kernel,
  tree: readonly Document<StoredResource>[],
  root: string,
): Promise<void> {
  for (const document of tree) {
    const users = await usersOf(kernel, document.id, root);
    if (users.length > 0)
      throw inUse(
        kernel,
        document.body,
        users.map(({ body }) => body),
      );
  }
}

/** In the words of the type, or ARM's. */
export function inUse(kernel: Kernel, record: ResourceRecord, users: readonly ResourceRecord[]): ArmError {
  const parsed = parseResourceId(record.resource.id);
  const own = parsed.ok ? kernel.catalogue.find(record.type)?.definition.inUse?.(parsed.id, users) : undefined;
  if (own) return own;
  const shown = users.slice(0, shownUsers).map(({ resource }) => resource.id);
  const more = users.length > shownUsers ? ` and ${users.length - shownUsers} more` : '';
  return new ArmError(
    409,
    'InUseResourceCannotBeDeleted',
    `Resource ${record.resource.id} cannot be deleted because it is in use by the following resources: ${shown.join(', ')}${more}.`,
  );
}
