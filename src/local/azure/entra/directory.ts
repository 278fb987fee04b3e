// Entra ID put together: the directory as the rest of the cloud sees it, and what its endpoints work with.
import { randomUUID } from 'node:crypto';
import { foldCase } from '../../../arm/resource-id.ts';
import type { Logger } from '../../../kit/log.ts';
import type { Store } from '../../../store/store.ts';
import type { Cloud } from '../cloud.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Directory, ManagedIdentity } from '../kernel/directory.ts';
import { createAtOnce } from './at-once.ts';
import { countAttempts, signInRules } from './attempts.ts';
import { createAudiences } from './audiences.ts';
import { armUnauthorized, BearerError, createBearerCheck } from './bearer.ts';
import { type Entra, issuerBases } from './context.ts';
import type { FederatedCredential, ServicePrincipal } from './directory-objects.ts';
import { openGrants } from './grants.ts';
import type { IssuerClient } from './issuer-client.ts';
import { createIssuerKeys } from './issuer-keys.ts';
import { openObjectTable } from './object-table.ts';
import { createPageSeal } from './page-seal.ts';
import { createRate } from './rate.ts';
import { type DirectorySeed, seedDirectory, servicePrincipal } from './seed.ts';
import { openSigningKeys } from './signing-keys.ts';
import { createTokenIssuer, type IssuedToken, managedIdentityLifeSeconds } from './tokens.ts';

export interface DirectoryOptions {
  readonly cloud: Pick<Cloud, 'origin' | 'suffix'>;
  /** Opened with a key ring: keys and hashes are sealed. */
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  /** What tokens live by, as clients have no other clock; the machine's when left out. */
  readonly machineNow?: () => number;
  readonly logger: Logger;
  readonly seed: DirectorySeed;
  /** Reads the discovery documents and keys of other issuers (issuer-client.ts). */
  readonly issuers: Pick<IssuerClient, 'get'>;
  /** Federated credentials of a managed identity, which are resources of Resource Manager; none when left out. */
  readonly federatedCredentialsOf?: Entra['federatedCredentialsOf'];
}

export interface EntraDirectory extends Directory {
  /** For the routes of Entra ID and Graph. */
  readonly entra: Entra;
  /** A token for a managed identity, as its host's metadata service gives it. Throws EntraError. */
  issueForIdentity(identity: ServicePrincipal, resource: string): Promise<IssuedToken & { readonly resource: string }>;
}

/** Each check takes 16 MiB and a thread for some 50 ms. */
const passwordChecksAtOnce = 16;
const deviceCodesPerMinute = 600;
const noCredentials: readonly FederatedCredential[] = [];

/** Opens the directory and puts in what the seed names and is not there. */
export async function createDirectory(options: DirectoryOptions): Promise<EntraDirectory> {
  const { cloud, store, clock, seed, machineNow = Date.now } = options;
  const now = (): number => clock.now();
  const [home] = seed.tenants;
  const [objects, keys, grants] = await Promise.all([
    openObjectTable(store),
    openSigningKeys(store, machineNow),
    openGrants(store, now),
  ]);
  await seedDirectory(objects, seed, cloud, now);
  const bases = (): readonly string[] => issuerBases({ cloud });
  const entra: Entra = {
    cloud,
    tenants: seed.tenants,
    clock,
    logger: options.logger,
    objects,
    keys,
    grants,
    tokens: createTokenIssuer(keys, objects, machineNow),
    audiences: createAudiences(cloud, objects),
    bearer: createBearerCheck({ bases, tenantIds: seed.tenants.map(({ id }) => id), keys, objects, machineNow }),
    signIns: countAttempts(signInRules, now),
    passwordChecks: createAtOnce(passwordChecksAtOnce),
    userCodes: countAttempts({ ...signInRules, allowed: 30 }, now),
    deviceStarts: createRate(deviceCodesPerMinute, now),
    issuerKeys: createIssuerKeys(options.issuers),
    pages: await createPageSeal(keys, now),
    federatedCredentialsOf: options.federatedCredentialsOf ?? (async () => noCredentials),
  };
  /** By folded id: one that is asked for twice at once is made once. */
  const making = new Map<string, Promise<ManagedIdentity>>();
  const ensure = async (resourceId: string, displayName: string): Promise<ManagedIdentity> => {
    const known = objects.managedIdentity(home.id, resourceId);
    if (known) return identityOf(known);
    const appId = randomUUID();
    const made = servicePrincipal({
      id: randomUUID(),
      tenantId: home.id,
      appId,
      displayName,
      createdDateTime: new Date(now()).toISOString(),
      names: [appId],
      resourceId,
    });
    await objects.create(home.id, [made]);
    return identityOf(made);
  };
  const authority = (): string => `${cloud.origin}/${home.id}`;

  return {
    tenantId: home.id,
    entra,
    async authenticate(authorization, audiences) {
      try {
        const bearer = await entra.bearer.check(authorization, audiences);
        if (bearer.tenantId === home.id) return bearer;
      } catch (error) {
        if (error instanceof BearerError) throw armUnauthorized(error, authority());
        throw error;
      }
      const message = `The access token is from the wrong issuer. It must match the tenant '${home.id}' associated with this subscription. Please use the authority (URL) '${authority()}' to get the token.`;
      throw armUnauthorized(new BearerError('issuer', message), authority());
    },
    async ensureManagedIdentity(resourceId, name) {
      const key = foldCase(resourceId);
      let made = making.get(key);
      if (!made) {
        made = ensure(resourceId, name).finally(() => making.delete(key));
        making.set(key, made);
      }
      return made;
    },
    async removeManagedIdentity(resourceId) {
      const known = objects.managedIdentity(home.id, resourceId);
      if (known) await objects.remove(home.id, [known.id]);
    },
    async principal(objectId) {
      const object = objects.get(objectId);
      if (!object || object.kind === 'Application') return undefined;
      return { kind: object.kind, name: object.displayName };
    },
    async issue({ audience, appId, objectId }) {
      const principal = objects.find('ServicePrincipal', objectId);
      if (!principal) throw new Error(`there is no service principal ${objectId} to issue a token for`);
      const issued = await entra.tokens.access({
        base: cloud.origin,
        principal,
        audience: { aud: audience, appId: audience, version: 1, scopes: ['.default'] },
        clientId: foldCase(appId),
        proof: 'certificate',
      });
      return issued.token;
    },
    async issueForIdentity(identity, resource) {
      const audience = entra.audiences.byName(resource, identity.tenantId);
      const issued = await entra.tokens.access({
        base: cloud.origin,
        principal: identity,
        audience,
        clientId: identity.appId,
        proof: 'certificate',
        lifeSeconds: managedIdentityLifeSeconds,
      });
      return { ...issued, resource: audience.aud };
    },
  };
}

function identityOf(principal: ServicePrincipal): ManagedIdentity {
  return { tenantId: principal.tenantId, clientId: principal.appId, principalId: principal.id };
}
