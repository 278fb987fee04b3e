// Microsoft.ManagedIdentity: identities that stand alone, what they trust, and the identity that another resource has by itself.
import { notFound } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import type { Provider, ProviderRoute } from '../kernel/provider.ts';
import type { Json } from '../kernel/record.ts';
import { federatedIdentityCredentials } from './federated-credentials.ts';
import { identityVersions, userAssignedIdentities } from './user-assigned.ts';

const systemAssigned: ProviderRoute = {
  method: 'GET',
  scope: 'extension',
  path: 'identities/default',
  apiVersions: identityVersions,
  action: 'Microsoft.ManagedIdentity/identities/read',
  async run({ world, on }): Promise<Json> {
    const record = on === undefined ? undefined : (await world.resources.read(on.key))?.body;
    if (on === undefined || record === undefined) throw notFound(on ?? missing);
    const { identity, id, location, tags } = record.resource;
    if (!isRecord(identity) || typeof identity.principalId !== 'string')
      throw notFound({
        ...on,
        types: ['identities'],
        names: ['default'],
        type: 'Microsoft.ManagedIdentity/identities',
      });
    const { tenantId, principalId, clientId } = await world.directory.ensureManagedIdentity(id, on.name);
    return {
      id: `${id}/providers/Microsoft.ManagedIdentity/identities/default`,
      name: 'default',
      type: 'Microsoft.ManagedIdentity/identities',
      ...(location === undefined ? {} : { location }),
      ...(tags === undefined ? {} : { tags }),
      properties: { tenantId, principalId, clientId },
    };
  },
};

const missing = {
  text: '/',
  key: '/',
  scope: 'tenant',
  types: ['identities'],
  names: ['default'],
  type: 'Microsoft.ManagedIdentity/identities',
  name: 'default',
} as const;

export function managedIdentityProvider(): Provider {
  return {
    namespace: 'Microsoft.ManagedIdentity',
    types: [userAssignedIdentities, federatedIdentityCredentials()],
    routes: [systemAssigned],
  };
}
