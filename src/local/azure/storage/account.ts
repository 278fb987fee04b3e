// A storage account as its data plane sees it.
import type { Secret } from '../../../kit/secret.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';

export interface Account {
  readonly name: string;
  /** Resource id. */
  readonly id: string;
  readonly keys: readonly Secret<string>[];
  /** What keys for signing in the name of a user are made from. */
  readonly delegation: Secret<string> | undefined;
  readonly allowsKeys: boolean;
  readonly allowsPublic: boolean;
  readonly kind: string;
  readonly sku: string;
}

export const accountType = 'Microsoft.Storage/storageAccounts';

export async function findAccount(world: World, name: string): Promise<Account | undefined> {
  const found = await world.resources.named(accountType, name);
  return found === undefined ? undefined : accountOf(found.body);
}

export function accountOf({ resource, secrets = {} }: ResourceRecord): Account {
  const { name, id, properties = {}, kind, sku } = resource;
  const { key1, key2, delegation } = secrets;
  return {
    name: name.toLowerCase(),
    id,
    keys: [key1, key2].filter((key) => key !== undefined),
    delegation,
    allowsKeys: properties.allowSharedKeyAccess !== false,
    allowsPublic: properties.allowBlobPublicAccess === true,
    kind: typeof kind === 'string' ? kind : 'StorageV2',
    sku: String((sku as { readonly name?: string } | undefined)?.name ?? 'Standard_LRS'),
  };
}
