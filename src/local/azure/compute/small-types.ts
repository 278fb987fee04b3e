// Types of Microsoft.Compute that hold little more than what they are given.

import { generateKeyPair, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { ArmError } from '../../../arm/errors.ts';
import { Type } from '../../../arm/type.ts';
import type { ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { textOf } from '../network/text.ts';
import { asReferences, idsOfType, inUseError, usersOf } from '../network/users.ts';
import { galleryVersions } from './api-versions.ts';
import { baseType, slowType } from './base-type.ts';
import { invalidValue, missingParameter, shaped } from './request-body.ts';

async function withMachines(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const machines = idsOfType(await usersOf(world, resource.id), 'microsoft.compute/virtualmachines');
  return { ...resource, properties: { ...resource.properties, virtualMachines: asReferences(machines) } };
}

function plainProperties(body: JsonObject, readOnly: readonly string[]): { [member: string]: JsonObject[string] } {
  const kept: { [member: string]: JsonObject[string] } = { ...(body.properties as JsonObject | undefined) };
  for (const name of ['provisioningState', ...readOnly]) delete kept[name];
  return kept;
}

export const availabilitySets: ResourceType = {
  ...baseType,
  type: 'availabilitySets',
  createdStatus: 200,
  provisioningState: false,
  prepare({ body }) {
    const kept = plainProperties(body, ['virtualMachines', 'statuses']);
    const sku = textOf((body.sku as JsonObject | undefined)?.name ?? 'Classic');
    if (!/^(classic|aligned)$/i.test(sku)) throw invalidValue('sku.name', sku);
    const given = shaped(
      Type.Object({
        platformFaultDomainCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 3 })),
        platformUpdateDomainCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
      }),
      kept,
    );
    return {
      resource: {
        ...body,
        sku: { name: /aligned/i.test(sku) ? 'Aligned' : 'Classic' },
        properties: {
          ...kept,
          platformFaultDomainCount: given.platformFaultDomainCount ?? 2,
          platformUpdateDomainCount: given.platformUpdateDomainCount ?? 5,
        },
      },
    };
  },
  show: withMachines,
  inUse: inUseError('OperationNotAllowed', 'Availability Set', 'Delete these machines first.'),
};

export const proximityPlacementGroups: ResourceType = {
  ...baseType,
  type: 'proximityPlacementGroups',
  provisioningState: false,
  prepare({ body }) {
    const kept = plainProperties(body, [
      'virtualMachines',
      'virtualMachineScaleSets',
      'availabilitySets',
      'colocationStatus',
    ]);
    return { resource: { ...body, properties: { proximityPlacementGroupType: 'Standard', ...kept } } };
  },
  show: withMachines,
};

const publicKeyForm = /^(ssh-rsa|ssh-ed25519|ecdsa-sha2-nistp\d+) [A-Za-z0-9+/=]+( .*)?\s*$/;

export const sshPublicKeys: ResourceType = {
  ...baseType,
  type: 'sshPublicKeys',
  provisioningState: false,
  prepare({ body }) {
    const { publicKey } = shaped(Type.Object({ publicKey: Type.Optional(Type.String()) }), plainProperties(body, []));
    if (publicKey !== undefined && publicKey !== '' && !publicKeyForm.test(publicKey))
      throw invalidValue('publicKey', 'a key');
    return { resource: { ...body, properties: publicKey === undefined ? {} : { publicKey } } };
  },
  actions: {
    generatekeypair: {
      async run({ world, record }) {
        if (typeof record.resource.properties?.publicKey === 'string')
          throw new ArmError(409, 'OperationNotAllowed', `The key '${record.resource.name}' has a public key already.`);
        const pair = await promisify(generateKeyPair)('rsa', { modulusLength: 3072 });
        const publicKey = sshForm(pair.publicKey.export({ format: 'jwk' }));
        await world.resources.change(record.resource.id, (there) => ({
          ...there,
          resource: { ...there.resource, properties: { ...there.resource.properties, publicKey } },
        }));
        // Shown once, kept nowhere.
        return {
          id: record.resource.id,
          publicKey,
          privateKey: pair.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
        };
      },
    },
  },
};

/** RFC 4253: the name, the exponent and the modulus, each with its length in front. */
function sshForm({ n = '', e = '' }: { readonly n?: string; readonly e?: string }): string {
  const part = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const positive = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'base64url');
    return (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  };
  return `ssh-rsa ${Buffer.concat([part(Buffer.from('ssh-rsa')), part(positive(e)), part(positive(n))]).toString('base64')}`;
}

export const images: ResourceType = {
  ...slowType,
  type: 'images',
  prepare({ body }) {
    const kept = plainProperties(body, []);
    if (kept.sourceVirtualMachine === undefined && kept.storageProfile === undefined)
      throw missingParameter('image.storageProfile');
    return { resource: { ...body, properties: { hyperVGeneration: 'V1', ...kept } }, references: {} };
  },
};

const galleryName = {
  form: /^[a-z0-9]([a-z0-9_.]{0,78}[a-z0-9])?$/i,
  rule: 'The name of a gallery has up to 80 letters, digits, dots and underscores.',
};

export const galleries: ResourceType = {
  ...slowType,
  type: 'galleries',
  apiVersions: galleryVersions,
  name: galleryName,
  prepare({ body, current }) {
    const kept = plainProperties(body, ['identifier']);
    const identifier = current?.resource.properties?.identifier ?? { uniqueName: randomUUID() };
    return { resource: { ...body, properties: { ...kept, identifier } } };
  },
};

export const galleryImages: ResourceType = {
  ...slowType,
  type: 'galleries/images',
  apiVersions: galleryVersions,
  prepare({ body }) {
    const kept = plainProperties(body, []);
    shaped(
      Type.Object({
        osType: Type.String(),
        osState: Type.Optional(Type.String()),
        identifier: Type.Object({ publisher: Type.String(), offer: Type.String(), sku: Type.String() }),
      }),
      kept,
    );
    return {
      resource: {
        ...body,
        properties: { hyperVGeneration: 'V1', architecture: 'x64', osState: 'Generalized', ...kept },
      },
    };
  },
};

export const galleryImageVersions: ResourceType = {
  ...slowType,
  type: 'galleries/images/versions',
  apiVersions: galleryVersions,
  name: { form: /^\d{1,10}\.\d{1,10}\.\d{1,10}$/, rule: 'The name of a version is three numbers: 1.0.0.' },
  prepare({ body }) {
    const kept = plainProperties(body, ['replicationStatus']);
    const publishing = (kept.publishingProfile ?? {}) as JsonObject;
    return {
      resource: {
        ...body,
        properties: {
          ...kept,
          publishingProfile: {
            replicaCount: 1,
            excludeFromLatest: false,
            storageAccountType: 'Standard_LRS',
            targetRegions: [
              { name: textOf(body.location), regionalReplicaCount: 1, storageAccountType: 'Standard_LRS' },
            ],
            ...publishing,
          },
        },
      },
      references: {},
    };
  },
};
