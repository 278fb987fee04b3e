// What a token can be for: the resources that a tenant knows, by name.
import { isGuid } from '../../../arm/resource-id.ts';
import type { Cloud } from '../cloud.ts';
import { aadsts } from './aadsts.ts';
import { audienceKey } from './audience-key.ts';
import { firstParties, graphAppId } from './first-party.ts';
import type { ObjectTable } from './object-table.ts';

export interface Audience {
  /** What the token says, as the client named it. */
  readonly aud: string;
  readonly appId: string;
  readonly version: 1 | 2;
  /** The permissions asked for, such as `user_impersonation` or `.default`. */
  readonly scopes: readonly string[];
}

export interface AskedScopes {
  readonly resource: Audience;
  readonly openid: boolean;
  readonly offline: boolean;
  readonly text: string;
}

export interface Audiences {
  /** The app id of whoever has this name in the tenant. */
  ownerOf(resource: string, tenantId: string): string | undefined;
  /** By a name of the resource: an app id, an identifier URI, an address of this cloud. Throws 500011. */
  byName(resource: string, tenantId: string): Audience;
  /** By a `scope` parameter. Throws 70011, 28000, 500011. */
  byScope(scope: string, tenantId: string): AskedScopes;
}

/** About who signs in, not about a resource. */
const signInScopes: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'offline_access']);
const scopeMaxLength = 4096;

export function createAudiences(
  cloud: Pick<Cloud, 'origin' | 'suffix'>,
  objects: Pick<ObjectTable, 'application' | 'principalNamed' | 'servicePrincipal'>,
): Audiences {
  let names: { readonly origin: string; readonly named: ReadonlyMap<string, string> } | undefined;
  /** The origin's port is known only once the cloud listens. */
  const namedNow = (): ReadonlyMap<string, string> => {
    if (names?.origin !== cloud.origin) names = { origin: cloud.origin, named: firstPartyNames(cloud) };
    return names.named;
  };

  const appIdOf = (key: string, tenantId: string): string | undefined => {
    const named = namedNow();
    const known = named.get(key);
    if (known !== undefined) return known;
    const bare = key.startsWith('spn:') ? key.slice(4) : key;
    if (isGuid(bare)) return objects.servicePrincipal(tenantId, bare)?.appId;
    const principal = objects.principalNamed(tenantId, key);
    if (principal) return principal.appId;
    return below(key, cloud.suffix) ? placeOf(key, named) : undefined;
  };
  const byName = (resource: string, tenantId: string): Audience => {
    const appId = resource.length > 1024 ? undefined : appIdOf(audienceKey(resource), tenantId);
    if (appId === undefined) throw aadsts.resource(resource, tenantId);
    const version = objects.application(appId)?.accessTokenVersion ?? 1;
    // The newer tokens always name the application by its id.
    return { aud: version === 2 ? appId : resource, appId, version, scopes: ['.default'] };
  };

  return {
    ownerOf: (resource, tenantId) => appIdOf(audienceKey(resource), tenantId),
    byName,
    byScope(text, tenantId) {
      if (text.length > scopeMaxLength) throw aadsts.scope(text);
      const all = text.split(' ').filter((scope) => scope !== '');
      if (all.length === 0) throw aadsts.scope(text);
      const asked = all.filter((scope) => !signInScopes.has(scope.toLowerCase())).map(splitScope);
      const [first] = asked;
      if (asked.some((scope) => audienceKey(scope.resource) !== audienceKey(first?.resource ?? ''))) {
        throw aadsts.scopeResources(text);
      }
      const resource = byName(first?.resource ?? graphAppId, tenantId);
      return {
        resource: { ...resource, scopes: first ? asked.map((scope) => scope.permission) : ['openid', 'profile'] },
        openid: all.some((scope) => scope.toLowerCase() === 'openid'),
        offline: all.some((scope) => scope.toLowerCase() === 'offline_access'),
        text: all.join(' '),
      };
    },
  };
}

function firstPartyNames(cloud: Pick<Cloud, 'origin' | 'suffix'>): ReadonlyMap<string, string> {
  return new Map(firstParties.flatMap((party) => party.names(cloud).map((name) => [audienceKey(name), party.appId])));
}

/** `https://host//.default` is the resource `https://host/`; a permission without a resource is one of Graph's. */
function splitScope(scope: string): { readonly resource: string; readonly permission: string } {
  const at = scope.lastIndexOf('/');
  if (at === -1) return { resource: graphAppId, permission: scope };
  const [resource, permission] = [scope.slice(0, at), scope.slice(at + 1)];
  if (resource === '' || permission === '' || resource.endsWith(':/')) throw aadsts.scope(scope);
  return { resource, permission };
}

function below(key: string, suffix: string): boolean {
  return URL.canParse(key) && key.startsWith('https://') && `.${new URL(key).hostname}`.endsWith(`.${suffix}`);
}

/** `https://myvault.vault.azure.test` belongs to the service whose name is `https://vault.azure.test`. */
function placeOf(key: string, named: ReadonlyMap<string, string>): string | undefined {
  const labels = new URL(key).hostname.split('.');
  for (let at = 1; at < labels.length; at++) {
    const found = named.get(`https://${labels.slice(at).join('.')}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
