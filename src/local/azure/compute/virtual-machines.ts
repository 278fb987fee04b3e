// Virtual machines: simulated, with their disks, interfaces, identities and power states.

import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, idKey, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import type { EffectEvent, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { linkedIdentities } from '../managed-identity/resource-identity.ts';
import { joinRights } from '../network/linked-rights.ts';
import { demandReference } from '../network/references.ts';
import { withoutNulls } from '../network/request-body.ts';
import { zonesOf } from '../network/sku.ts';
import { textOf } from '../network/text.ts';
import { referencesOf, usersOf } from '../network/users.ts';
import { demandQuota } from '../quota/limits.ts';
import { demandSize } from './availability.ts';
import { slowType } from './base-type.ts';
import { assignedIdentities, ownIdentity, settleIdentity, shownIdentity } from './identities.ts';
import { removeOwned } from './machine-removal.ts';
import { planStorage } from './machine-storage.ts';
import { type Power, powerActions, powerMember, powerOf } from './power.ts';
import { missingParameter, optionalReference, shaped } from './request-body.ts';
import { findSize } from './sizes.ts';

const properties = Type.Object({
  hardwareProfile: Type.Optional(Type.Object({ vmSize: Type.Optional(Type.String()) })),
  osProfile: Type.Optional(
    Type.Object({
      computerName: Type.Optional(Type.String()),
      adminUsername: Type.Optional(Type.String()),
      adminPassword: Type.Optional(Type.String()),
      customData: Type.Optional(Type.String()),
      linuxConfiguration: Type.Optional(Type.Object({ disablePasswordAuthentication: Type.Optional(Type.Boolean()) })),
      windowsConfiguration: Type.Optional(Type.Object({})),
    }),
  ),
  networkProfile: Type.Optional(
    Type.Object({
      networkInterfaces: Type.Optional(
        Type.Array(
          Type.Object({
            id: Type.String(),
            properties: Type.Optional(
              Type.Object({ primary: Type.Optional(Type.Boolean()), deleteOption: Type.Optional(Type.String()) }),
            ),
          }),
        ),
      ),
    }),
  ),
  availabilitySet: optionalReference,
  proximityPlacementGroup: optionalReference,
  virtualMachineScaleSet: optionalReference,
  userData: Type.Optional(Type.String()),
});

const readOnly = [
  'instanceView',
  'vmId',
  'timeCreated',
  'provisioningState',
  'resources',
  powerMember,
  ownIdentity,
  'isGeneralized',
];

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, resources: __, ...rest } = body;
  const plain: { [member: string]: JsonObject[string] } = {
    ...((withoutNulls(body) as { readonly properties?: JsonObject }).properties ?? {}),
  };
  for (const name of readOnly) delete plain[name];
  const given = shaped(properties, plain);
  const location = textOf(body.location);
  const before = current?.resource.properties;
  const { zones } = zonesOf(world, id, body);
  const vmSize = given.hardwareProfile?.vmSize;
  if (vmSize === undefined) throw missingParameter('hardwareProfile.vmSize');
  const sizeBefore = findSize(textOf((before?.hardwareProfile as JsonObject | undefined)?.vmSize));
  const size =
    sizeBefore !== undefined && foldCase(sizeBefore.name) === foldCase(vmSize)
      ? sizeBefore
      : demandSize(world, id, vmSize, location, zones ?? []);
  await demandQuota(world, {
    subscriptionId: id.subscriptionId ?? '',
    location,
    size,
    machines: 1,
    instead: sizeBefore && { size: sizeBefore, machines: 1 },
  });
  const storage = await planStorage(
    world,
    { id, location, ...(zones === undefined ? {} : { zones }), before, maxDataDisks: size.maxDataDisks },
    plain.storageProfile as JsonObject | undefined,
  );
  const { osProfile, secrets } = checkedOsProfile(id, given.osProfile, plain, current, storage.isFromImage);
  const networkInterfaces = await checkedInterfaces(
    world,
    id,
    location,
    size.maxInterfaces,
    given.networkProfile?.networkInterfaces,
  );
  await checkGroups(world, id, given, location);
  if (current !== undefined) checkUnchanged(current.resource, zones, storage.kept, given.availabilitySet?.id);
  const whole: JsonObject = {
    ...plain,
    hardwareProfile: { ...given.hardwareProfile, vmSize: size.name },
    storageProfile: storage.kept,
    ...(osProfile === undefined ? {} : { osProfile }),
    networkProfile: { ...(plain.networkProfile as JsonObject), networkInterfaces },
    vmId: before?.vmId ?? randomUUID(),
    timeCreated: before?.timeCreated ?? new Date(world.clock.now()).toISOString(),
    ...(before?.[powerMember] === undefined ? {} : { [powerMember]: before[powerMember] }),
    ...(before?.isGeneralized === undefined ? {} : { isGeneralized: before.isGeneralized }),
    ...(before?.[ownIdentity] === undefined ? {} : { [ownIdentity]: before[ownIdentity] }),
  };
  const identities = Object.fromEntries(
    assignedIdentities(body).map((one) => [one, 'identity.userAssignedIdentities']),
  );
  return {
    resource: { ...rest, ...(zones === undefined ? {} : { zones }), properties: whole },
    references: { ...referencesOf(id, whole), ...identities },
    ...(secrets === undefined ? {} : { secrets }),
    also: storage.also,
  };
}

/** Passwords and custom data are never shown again; custom data is kept for the machine to read. */
function checkedOsProfile(
  id: ResourceId,
  given:
    | {
        readonly computerName?: string;
        readonly adminUsername?: string;
        readonly adminPassword?: string;
        readonly customData?: string;
      }
    | undefined,
  plain: JsonObject,
  current: ResourceRecord | undefined,
  isFromImage: boolean,
): { readonly osProfile?: JsonObject; readonly secrets?: { readonly [name: string]: Secret<string> } } {
  if (given === undefined) {
    if (isFromImage && current === undefined && !isSpecialised(plain)) throw missingParameter('osProfile');
    return current?.secrets === undefined ? {} : { secrets: current.secrets };
  }
  if (current === undefined && given.adminUsername === undefined) throw missingParameter('osProfile.adminUsername');
  const { adminPassword: _, customData, ...rest } = plain.osProfile as JsonObject;
  const linux = rest.linuxConfiguration as JsonObject | undefined;
  return {
    osProfile: {
      ...rest,
      computerName: given.computerName ?? id.name,
      secrets: rest.secrets ?? [],
      allowExtensionOperations: rest.allowExtensionOperations ?? true,
      ...(linux === undefined
        ? {}
        : { linuxConfiguration: { provisionVMAgent: true, disablePasswordAuthentication: false, ...linux } }),
    },
    ...(typeof customData === 'string'
      ? { secrets: { customData: new Secret(customData) } }
      : current?.secrets === undefined
        ? {}
        : { secrets: current.secrets }),
  };
}

/** Images of galleries may hold machines that need no setting up. */
function isSpecialised(plain: JsonObject): boolean {
  const image = (plain.storageProfile as JsonObject | undefined)?.imageReference as JsonObject | undefined;
  return image?.id !== undefined;
}

async function checkedInterfaces(
  world: World,
  id: ResourceId,
  location: string,
  max: number,
  given: readonly { readonly id: string; readonly properties?: { readonly primary?: boolean } }[] | undefined,
): Promise<readonly JsonObject[]> {
  if (given === undefined || given.length === 0) throw missingParameter('networkProfile.networkInterfaces');
  if (given.length > max)
    throw new ArmError(
      400,
      'NicCountExceedsVmSizeLimit',
      `The number of network interfaces for virtual machine ${id.name} exceeds the maximum allowed for its size. The number of network ` +
        `interfaces is ${given.length} and the maximum allowed is ${max}.`,
    );
  const primaries = given.filter(({ properties: of }) => of?.primary === true).length;
  if (given.length > 1 && primaries !== 1)
    throw new ArmError(
      400,
      'VirtualMachineMustHaveOneNetworkInterfaceAsPrimary',
      `Virtual machine ${id.text} must have one network interface set as the primary.`,
    );
  for (const { id: text } of given) {
    const { resource } = await demandReference(world, text, {
      type: 'microsoft.network/networkinterfaces',
      by: id,
      location,
    });
    const user = (await usersOf(world, resource.id)).find(
      ({ type, resource: one }) => type.startsWith('microsoft.compute/') && idKey(one.id) !== id.key,
    );
    if (user)
      throw new ArmError(
        400,
        'NicInUse',
        `Network Interface ${resource.id} is used by existing resource ${user.resource.id} and cannot be attached to ${id.text}.`,
      );
  }
  return given.map((one) => ({
    ...one,
    properties: { ...one.properties, primary: one.properties?.primary ?? given.length === 1 },
  }));
}

async function checkGroups(
  world: World,
  by: ResourceId,
  given: {
    readonly availabilitySet?: { readonly id?: string };
    readonly proximityPlacementGroup?: { readonly id?: string };
  },
  location: string,
): Promise<void> {
  const groups = [
    [given.availabilitySet?.id, 'microsoft.compute/availabilitysets'],
    [given.proximityPlacementGroup?.id, 'microsoft.compute/proximityplacementgroups'],
  ] as const;
  for (const [text, type] of groups) if (text !== undefined) await demandReference(world, text, { type, by, location });
}

function checkUnchanged(
  before: ArmResource,
  zones: readonly string[] | undefined,
  storage: JsonObject,
  availabilitySet: string | undefined,
): void {
  const osDisk = ((before.properties?.storageProfile as JsonObject | undefined)?.osDisk ?? {}) as JsonObject;
  const setBefore = (before.properties?.availabilitySet as JsonObject | undefined)?.id;
  const changed = [
    ['osDisk.name', osDisk.name, (storage.osDisk as JsonObject).name],
    ['zones', textOf(before.zones ?? ''), textOf(zones ?? before.zones ?? '')],
    ['availabilitySet.id', foldCase(textOf(setBefore ?? '')), foldCase(availabilitySet ?? textOf(setBefore ?? ''))],
  ].find(([, was, is]) => was !== is);
  if (changed)
    throw new ArmError(409, 'PropertyChangeNotAllowed', `Changing property '${textOf(changed[0])}' is not allowed.`, {
      target: textOf(changed[0]),
    });
}

async function effect(world: World, event: EffectEvent): Promise<JsonObject | undefined> {
  const identity = await settleIdentity(world, event);
  if (event.kind === 'delete') {
    await removeOwned(world, event.record);
    return undefined;
  }
  const power: Power = event.kind === 'create' ? 'running' : powerOf(event.record);
  return { ...identity, [powerMember]: power };
}

async function showMachine(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const { [powerMember]: _, [ownIdentity]: __, isGeneralized: ___, ...shown } = resource.properties ?? {};
  return { ...resource, ...(await shownIdentity(world, resource)), properties: shown };
}

export const virtualMachines: ResourceType = {
  ...slowType,
  type: 'virtualMachines',
  name: {
    form: /^[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9_])?$/i,
    rule: 'The name of a virtual machine has up to 64 letters, digits, dots, hyphens and underscores.',
  },
  prepare,
  effect,
  show: showMachine,
  linkedAccess: (body, id) => [...joinRights(body, id), ...linkedIdentities(body)],
  actions: {
    ...powerActions,
    generalize: {
      async run({ world, record }) {
        if (powerOf(record) === 'running')
          throw new ArmError(
            409,
            'OperationNotAllowed',
            `Please power off the Virtual Machine ${record.resource.name} before setting it as generalized.`,
          );
        await world.resources.change(record.resource.id, (there) => ({
          ...there,
          resource: { ...there.resource, properties: { ...there.resource.properties, isGeneralized: true } },
        }));
        return undefined;
      },
    },
    runcommand: {
      asynchronous: true,
      async run({ record }) {
        throw new ArmError(
          409,
          'OperationNotAllowed',
          `Virtual machine ${record.resource.name} is simulated: there is no operating system in it to run commands.`,
        );
      },
    },
    retrievebootdiagnosticsdata: {
      async run({ world, record }) {
        const { name } = record.resource;
        const base = `https://bootdiagnostics.blob.storage.${world.cloud.suffix}/${name.toLowerCase()}`;
        return {
          consoleScreenshotBlobUri: `${base}/screenshot.bmp`,
          serialConsoleLogBlobUri: `${base}/serialconsole.log`,
        };
      },
    },
  },
};

/** Extensions are recorded; what is protected in them is not. */
export const machineExtensions: ResourceType = {
  ...slowType,
  type: 'virtualMachines/extensions',
  prepare({ body }) {
    const { protectedSettings: _, ...rest } = (body.properties ?? {}) as JsonObject;
    shaped(Type.Object({ publisher: Type.Optional(Type.String()), type: Type.Optional(Type.String()) }), rest);
    return { resource: { ...body, properties: rest }, references: {} };
  },
};
