// Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials: which tokens of other issuers an identity is known by.
import { ArmError } from '../../../arm/errors.ts';
import { idKey } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { FederatedCredential } from '../entra/directory-objects.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { Resources } from '../kernel/resources.ts';
import { identityVersions } from './user-assigned.ts';

export const credentialType = 'microsoft.managedidentity/userassignedidentities/federatedidentitycredentials';
const credentialsMax = 20;
/** A write that did not get to its end holds up others for so long. */
const writeMs = 5000;

interface Credential {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
}

/** One write at a time on an identity: a second one is told to come again. */
export function federatedIdentityCredentials(): ResourceType {
  const writing = new WeakMap<object, Map<string, { readonly key: string; readonly until: number }>>();
  const writesOf = (cloud: object) => {
    const writes = writing.get(cloud) ?? new Map<string, { readonly key: string; readonly until: number }>();
    writing.set(cloud, writes);
    return writes;
  };
  const begin = (cloud: object, identity: string, key: string, name: string): void => {
    const writes = writesOf(cloud);
    const there = writes.get(identity);
    const now = performance.now();
    if (there !== undefined && there.key !== key && there.until > now)
      throw new ArmError(
        409,
        'ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity',
        `Too many Federated Identity Credentials are written concurrently for the managed identity '${name}'. Concurrent Federated ` +
          'Identity Credentials writes under the same managed identity are not supported.',
        { retryAfterSeconds: 1 },
      );
    writes.set(identity, { key, until: now + writeMs });
  };

  return {
    type: 'userAssignedIdentities/federatedIdentityCredentials',
    apiVersions: identityVersions.filter((version) => version >= '2022-01-31-preview'),
    scope: 'resourceGroup',
    location: 'none',
    name: {
      form: /^[A-Za-z0-9][A-Za-z0-9_-]{2,119}$/,
      rule: 'It has 3 to 120 letters, digits, hyphens and underscores and starts with a letter or digit.',
    },
    etags: false,
    provisioningState: false,
    schema: Type.Object({
      properties: Type.Object({
        issuer: Type.String({ minLength: 1, maxLength: 600 }),
        subject: Type.String({ minLength: 1, maxLength: 600 }),
        audiences: Type.Array(Type.String({ minLength: 1, maxLength: 600 }), { minItems: 1, maxItems: 1 }),
      }),
    }),
    async prepare(request) {
      const identity = above(request.id.key);
      begin(request.world.store, identity, request.id.key, request.id.names[0] ?? '');
      try {
        return await prepared(request, identity);
      } catch (error) {
        writesOf(request.world.store).delete(identity);
        throw error;
      }
    },
    async effect(world, { id }) {
      writesOf(world.store).delete(above(id.key));
      return undefined;
    },
  };
}

function above(key: string): string {
  return key.split('/').slice(0, -2).join('/');
}

async function prepared({ world, id, body, current }: PrepareRequest, identity: string): Promise<Prepared> {
  const credential = body.properties as unknown as Credential;
  const { issuer, subject, audiences } = credential;
  if (!isIssuer(issuer))
    throw new ArmError(
      400,
      'BadRequest',
      `The issuer '${issuer.slice(0, 200)}' is not valid: it must be an https address without query and fragment.`,
      { target: 'properties.issuer' },
    );
  const others = (await world.resources.list({ parent: identity, type: credentialType })).filter(
    ({ resource }) => idKey(resource.id) !== id.key,
  );
  if (current === undefined && others.length >= credentialsMax)
    throw new ArmError(
      400,
      'BadRequest',
      `Too many Federated Identity Credentials for the managed identity: it has at most ${credentialsMax}.`,
    );
  if (others.some((other) => isSame(credentialOf(other), credential)))
    throw new ArmError(409, 'Conflict', 'Issuer and subject combination already exists for this Managed Identity.');
  return { resource: { properties: { issuer, subject, audiences } }, references: {} };
}

function isIssuer(issuer: string): boolean {
  const url = URL.parse(issuer);
  return url?.protocol === 'https:' && url.search === '' && url.hash === '' && url.username === '';
}

function isSame(a: Credential, b: Credential): boolean {
  return a.issuer === b.issuer && a.subject === b.subject;
}

function credentialOf({ resource }: ResourceRecord): Credential {
  return resource.properties as unknown as Credential;
}

/** For Entra ID: the credentials of an identity, by its resource id. */
export function federatedCredentialsFrom(
  resources: () => Pick<Resources, 'list'>,
): (resourceId: string) => Promise<readonly FederatedCredential[]> {
  return async (resourceId) => {
    const records = await resources().list({ parent: resourceId, type: credentialType });
    return records.map((record) => {
      const { id, name } = record.resource;
      return { id, name, ...credentialOf(record) };
    });
  };
}
