// The services of an account and its blob containers as resources.
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { apiVersions } from './api-versions.ts';
import { dropContainer, makeContainer } from './containers.ts';
import { openContents } from './contents.ts';
import { openDocuments, readContainer } from './documents.ts';

/** `default` is there without being written. */
export function service(type: string, defaults: JsonObject): ResourceType {
  return {
    type,
    apiVersions,
    scope: 'resourceGroup',
    location: 'none',
    name: { form: /^default$/i, rule: "The name is 'default'." },
    provisioningState: false,
    patch: 'merge',
    prepare({ body }) {
      const given = isRecord(body.properties) ? (body.properties as JsonObject) : {};
      return { resource: { properties: { ...defaults, ...given } }, references: {} };
    },
  };
}

export const containers: ResourceType = {
  type: 'storageAccounts/blobServices/containers',
  apiVersions,
  scope: 'resourceGroup',
  location: 'none',
  name: {
    form: /^(?:\$root|\$web|[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){2,62})$/,
    rule: 'Container names have 3 to 63 lower-case letters, digits and single hyphens.',
  },
  provisioningState: false,
  patch: 'merge',
  prepare({ body }) {
    const given = isRecord(body.properties) ? (body.properties as JsonObject) : {};
    return {
      resource: {
        properties: {
          defaultEncryptionScope: '$account-encryption-key',
          denyEncryptionScopeOverride: false,
          publicAccess: 'None',
          leaseStatus: 'Unlocked',
          leaseState: 'Available',
          hasImmutabilityPolicy: false,
          hasLegalHold: false,
          ...given,
        },
      },
      references: {},
    };
  },
  async effect(world, { kind, id, record }) {
    const [account = '', , container = ''] = id.names;
    const documents = await openDocuments(world);
    const name = account.toLowerCase();
    if (kind === 'delete') {
      await dropContainer(documents, await openContents(world, 'storage'), name, container);
      return undefined;
    }
    await makeContainer(documents, name, container, world.clock.now());
    const access = foldCase(String(record.resource.properties?.publicAccess ?? 'none'));
    const found = await readContainer(documents, name, container);
    if (found !== undefined) {
      const { publicAccess: _before, ...rest } = found.body;
      await documents.replace(
        found,
        access === 'blob' || access === 'container' ? { ...rest, publicAccess: access } : rest,
      );
    }
    return undefined;
  },
};
