// Microsoft.ManagedIdentity/userAssignedIdentities: a service principal that resources can be given.
import { Enum } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import type { ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';

export const identityVersions = [
  '2025-05-31-preview',
  '2025-01-31-preview',
  '2024-11-30',
  '2023-07-31-preview',
  '2023-01-31',
  '2022-01-31-preview',
  '2021-09-30-preview',
  '2018-11-30',
  '2015-08-31-preview',
] as const;

export const identityType = 'microsoft.managedidentity/userassignedidentities';

export const userAssignedIdentities: ResourceType = {
  type: 'userAssignedIdentities',
  apiVersions: identityVersions,
  scope: 'resourceGroup',
  location: 'required',
  name: {
    form: /^[A-Za-z0-9][A-Za-z0-9_-]{2,127}$/,
    rule: 'It has 3 to 128 letters, digits, hyphens and underscores and starts with a letter or digit.',
  },
  etags: false,
  provisioningState: false,
  patch: 'merge',
  schema: Type.Object({
    properties: Type.Optional(Type.Object({ isolationScope: Type.Optional(Enum(['None', 'Regional'])) })),
  }),
  prepare({ body, current }) {
    const { isolationScope } = (body.properties ?? {}) as JsonObject;
    const { tenantId, principalId, clientId } = current?.resource.properties ?? {};
    const { location, tags } = body as {
      readonly location?: string;
      readonly tags?: { readonly [name: string]: string };
    };
    return {
      resource: {
        ...(location === undefined ? {} : { location }),
        ...(tags === undefined ? {} : { tags }),
        properties: {
          ...(isolationScope === undefined ? {} : { isolationScope }),
          ...(principalId === undefined ? {} : { tenantId, principalId, clientId }),
        },
      },
      references: {},
    };
  },
  async effect(world, { kind, id, record }) {
    const { id: resourceId } = record.resource;
    if (kind === 'delete') {
      await world.directory.removeManagedIdentity(resourceId);
      return undefined;
    }
    const { tenantId, principalId, clientId } = await world.directory.ensureManagedIdentity(resourceId, id.name);
    return { tenantId, principalId, clientId };
  },
};
