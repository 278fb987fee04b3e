// A registry as its data plane sees it.
import type { Secret } from '../../../kit/secret.ts';
import { dataPlaneHost } from '../cloud.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';

export const registryType = 'Microsoft.ContainerRegistry/registries';

export interface Registry {
  readonly name: string;
  readonly id: string;
  readonly loginServer: string;
  readonly adminPasswords: readonly Secret<string>[];
  readonly tokenKey: Secret<string>;
  readonly allowsAnonymousPull: boolean;
}

export function registryOf(world: World, { resource, secrets = {} }: ResourceRecord): Registry | undefined {
  const { name, id, properties = {} } = resource;
  const { password, password2, tokenKey } = secrets;
  if (tokenKey === undefined) return undefined;
  const isAdmin = properties.adminUserEnabled === true;
  return {
    name: name.toLowerCase(),
    id,
    loginServer: dataPlaneHost(world.cloud, 'registry', name),
    adminPasswords: isAdmin ? [password, password2].filter((one) => one !== undefined) : [],
    tokenKey,
    allowsAnonymousPull: properties.anonymousPullEnabled === true,
  };
}

export async function findRegistry(world: World, name: string): Promise<Registry | undefined> {
  const found = await world.resources.named(registryType, name);
  return found === undefined ? undefined : registryOf(world, found.body);
}
