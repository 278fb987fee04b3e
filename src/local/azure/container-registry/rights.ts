// Who may do what in a registry: principals of Entra ID by their roles, the admin user, tokens with a scope map, everybody.
import { timingSafeEqual } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import type { Registry } from './registry.ts';

export type Party =
  | { readonly kind: 'entra'; readonly objectId: string; readonly groups: readonly string[] }
  | { readonly kind: 'admin' }
  | { readonly kind: 'token'; readonly name: string }
  | { readonly kind: 'anonymous' };

/** What a token of the distribution protocol lets do: `pull`, `push`, `delete` and some that only Azure has. */
export interface Scope {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

const scopeMax = 50;

/** `repository:team/app:pull,push`; several may be in one text. Unknown forms are left out. */
export function parseScopes(texts: readonly string[]): readonly Scope[] {
  return texts
    .flatMap((text) => text.split(' '))
    .slice(0, scopeMax)
    .flatMap((text) => {
      const [type = '', ...rest] = text.split(':');
      const actions = rest.pop();
      const name = rest.join(':');
      return actions === undefined || name === '' ? [] : [{ type, name, actions: actions.split(',') }];
    });
}

const roleActions: { readonly [action: string]: string } = {
  pull: 'Microsoft.ContainerRegistry/registries/pull/read',
  push: 'Microsoft.ContainerRegistry/registries/push/write',
  delete: 'Microsoft.ContainerRegistry/registries/artifacts/delete',
  metadata_read: 'Microsoft.ContainerRegistry/registries/pull/read',
  metadata_write: 'Microsoft.ContainerRegistry/registries/push/write',
};
const mapActions: { readonly [action: string]: string } = {
  pull: 'content/read',
  push: 'content/write',
  delete: 'content/delete',
  metadata_read: 'metadata/read',
  metadata_write: 'metadata/write',
};

/** Of what is asked for, what the party may do. */
export async function grantedScopes(
  world: World,
  registry: Registry,
  party: Party,
  asked: readonly Scope[],
): Promise<readonly Scope[]> {
  const granted: Scope[] = [];
  for (const { type, name, actions } of asked) {
    const wanted = actions.includes('*') ? [...new Set([...actions, ...Object.keys(roleActions)])] : actions;
    const allowed: string[] = [];
    for (const action of wanted) {
      if (await may(world, registry, party, type, name, action)) allowed.push(action);
    }
    granted.push({ type, name, actions: allowed });
  }
  return granted;
}

async function may(
  world: World,
  registry: Registry,
  party: Party,
  type: string,
  name: string,
  action: string,
): Promise<boolean> {
  if (party.kind === 'admin') return true;
  if (party.kind === 'anonymous') return registry.allowsAnonymousPull && type === 'repository' && action === 'pull';
  if (party.kind === 'token') {
    const right = Object.hasOwn(mapActions, action) ? mapActions[action] : undefined;
    return type === 'repository' && right !== undefined && (await mapAllows(world, registry, party.name, name, right));
  }
  if (type === 'registry') return (await world.access.check(party, roleActions.pull ?? '', registry.id)).allowed;
  const right = Object.hasOwn(roleActions, action) ? roleActions[action] : undefined;
  return right !== undefined && (await world.access.check(party, right, registry.id)).allowed;
}

async function mapAllows(
  world: World,
  registry: Registry,
  token: string,
  repository: string,
  right: string,
): Promise<boolean> {
  const found = await world.resources.read(`${registry.id}/tokens/${token}`);
  const properties = found?.body.resource.properties;
  if (properties?.status === 'disabled' || typeof properties?.scopeMapId !== 'string') return false;
  const map = await world.resources.read(properties.scopeMapId);
  const actions = map?.body.resource.properties?.actions;
  if (!Array.isArray(actions)) return false;
  const wanted = foldCase(`repositories/${repository}/${right}`);
  return actions.some((action) => {
    if (typeof action !== 'string') return false;
    const folded = foldCase(action);
    const [, prefix, rest] = /^repositories\/(.*)\*(\/.*)$/.exec(folded) ?? [];
    if (prefix === undefined || rest === undefined) return folded === wanted;
    return wanted.startsWith(`repositories/${prefix}`) && wanted.endsWith(rest);
  });
}

/** The party that a user name and password stand for. */
export async function byPassword(
  world: World,
  registry: Registry,
  user: string,
  password: string,
): Promise<Party | undefined> {
  if (foldCase(user) === registry.name)
    return registry.adminPasswords.some((one) => same(one.reveal(), password)) ? { kind: 'admin' } : undefined;
  if (!/^[a-zA-Z0-9-]{1,50}$/.test(user)) return undefined;
  const found = await world.resources.read(`${registry.id}/tokens/${user}`);
  const credentials = found?.body.resource.properties?.credentials;
  const kept = isRecord(credentials) && Array.isArray(credentials.passwords) ? credentials.passwords : [];
  for (const entry of kept as readonly JsonObject[]) {
    const secret = found?.body.secrets?.[String(entry.name)];
    const isLive = typeof entry.expiry !== 'string' || Date.parse(entry.expiry) > world.clock.now();
    if (secret !== undefined && isLive && same(secret.reveal(), password))
      return found?.body.resource.properties?.status === 'disabled' ? undefined : { kind: 'token', name: user };
  }
  return undefined;
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
