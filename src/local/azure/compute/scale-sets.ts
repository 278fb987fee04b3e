// Scale sets: a model, and as many machines of it as the capacity says.

import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import type {
  Action,
  ActionRequest,
  EffectEvent,
  Prepared,
  PrepareRequest,
  ProviderRoute,
  ResourceType,
} from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { linkedIdentities } from '../managed-identity/resource-identity.ts';
import { joinRights } from '../network/linked-rights.ts';
import { withoutNulls } from '../network/request-body.ts';
import { zonesOf } from '../network/sku.ts';
import { textOf } from '../network/text.ts';
import { referencesOf } from '../network/users.ts';
import { demandQuota } from '../quota/limits.ts';
import { machineVersions } from './api-versions.ts';
import { demandSize } from './availability.ts';
import { slowType } from './base-type.ts';
import { ownIdentity, settleIdentity, shownIdentity } from './identities.ts';
import { demandRecord, pathId } from './instance-views.ts';
import { spelt } from './machine-storage.ts';
import { type Power, powerOf, withPower } from './power.ts';
import { missingParameter, shaped } from './request-body.ts';
import { machinesOf, putMachine, removeMachine } from './scale-set-machines.ts';
import { findSize } from './sizes.ts';

const maxCapacity = 1000;

const sku = Type.Object({
  name: Type.Optional(Type.String()),
  capacity: Type.Optional(Type.Integer({ minimum: 0, maximum: maxCapacity })),
});
const properties = Type.Object({
  upgradePolicy: Type.Optional(Type.Object({ mode: Type.Optional(Type.String()) })),
  orchestrationMode: Type.Optional(Type.String()),
  virtualMachineProfile: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const {
    provisioningState: __,
    uniqueId: ___,
    timeCreated: ____,
    [ownIdentity]: _____,
    ...plain
  } = (withoutNulls(body) as { readonly properties?: JsonObject }).properties ?? {};
  const given = shaped(properties, plain);
  const asked = shaped(sku, body.sku as JsonObject | undefined);
  const location = textOf(body.location);
  const { zones } = zonesOf(world, id, body);
  if (asked.name === undefined) throw missingParameter('sku.name');
  const skuBefore = (current?.resource.sku ?? {}) as JsonObject;
  const capacity = asked.capacity ?? Number(skuBefore.capacity ?? 0);
  const size = demandSize(world, id, asked.name, location, zones ?? []);
  const sizeBefore = findSize(textOf(skuBefore.name));
  await demandQuota(world, {
    subscriptionId: id.subscriptionId ?? '',
    location,
    size,
    machines: capacity,
    instead: sizeBefore && { size: sizeBefore, machines: Number(skuBefore.capacity ?? 0) },
  });
  const mode = spelt('orchestrationMode', given.orchestrationMode ?? 'Uniform', ['Uniform', 'Flexible']);
  const before = current?.resource.properties ?? {};
  const profile = plain.virtualMachineProfile as JsonObject | undefined;
  if (profile === undefined && mode === 'Uniform') throw missingParameter('virtualMachineProfile');
  if (before.orchestrationMode !== undefined && before.orchestrationMode !== mode)
    throw new ArmError(409, 'PropertyChangeNotAllowed', "Changing property 'orchestrationMode' is not allowed.", {
      target: 'orchestrationMode',
    });
  const { kept, secrets = current?.secrets } = withoutSecrets(profile);
  const whole: JsonObject = {
    ...plain,
    ...(kept === undefined ? {} : { virtualMachineProfile: kept }),
    orchestrationMode: mode,
    singlePlacementGroup: plain.singlePlacementGroup ?? mode === 'Uniform',
    upgradePolicy: {
      ...(plain.upgradePolicy as JsonObject | undefined),
      mode: spelt('upgradePolicy.mode', given.upgradePolicy?.mode ?? 'Manual', ['Manual', 'Automatic', 'Rolling']),
    },
    overprovision: plain.overprovision ?? true,
    doNotRunExtensionsOnOverprovisionedVMs: plain.doNotRunExtensionsOnOverprovisionedVMs ?? false,
    platformFaultDomainCount: plain.platformFaultDomainCount ?? (zones === undefined ? 5 : 1),
    uniqueId: before.uniqueId ?? randomUUID(),
    timeCreated: before.timeCreated ?? new Date(world.clock.now()).toISOString(),
    ...(before[ownIdentity] === undefined ? {} : { [ownIdentity]: before[ownIdentity] }),
  };
  return {
    resource: {
      ...rest,
      ...(zones === undefined ? {} : { zones }),
      sku: { ...(body.sku as JsonObject), name: size.name, tier: 'Standard', capacity },
      properties: whole,
    },
    references: referencesOf(id, whole),
    ...(secrets === undefined ? {} : { secrets }),
  };
}

/** Passwords are kept nowhere; custom data is kept for the machines to read. */
function withoutSecrets(profile: JsonObject | undefined): {
  readonly kept?: JsonObject;
  readonly secrets?: { readonly customData: Secret<string> };
} {
  if (profile?.osProfile === undefined) return profile === undefined ? {} : { kept: profile };
  const { adminPassword: _, customData, ...osProfile } = profile.osProfile as JsonObject;
  return {
    kept: { ...profile, osProfile },
    ...(typeof customData === 'string' ? { secrets: { customData: new Secret(customData) } } : {}),
  };
}

/** As many machines as the capacity says; the newest go first. */
async function effect(world: World, event: EffectEvent): Promise<JsonObject | undefined> {
  const { record, kind } = event;
  const identity = await settleIdentity(world, event);
  const { resource } = record;
  if (kind === 'delete' || resource.properties?.orchestrationMode === 'Flexible') return identity;
  const capacity = Number((resource.sku as JsonObject | undefined)?.capacity ?? 0);
  const machines = await machinesOf(world, resource.id);
  const last = Math.max(-1, ...machines.map(({ resource: { name } }) => Number(name)));
  for (let more = 0; more < capacity - machines.length; more++)
    await putMachine(world, resource, textOf(last + 1 + more));
  for (const machine of machines.slice(capacity)) await removeMachine(world, machine.resource.id);
  const { mode } = (resource.properties?.upgradePolicy ?? {}) as JsonObject;
  if (mode !== 'Manual')
    for (const machine of machines.slice(0, capacity)) await putMachine(world, resource, machine.resource.name);
  return identity;
}

const ids = Type.Object({ instanceIds: Type.Optional(Type.Array(Type.String())) });

/** The machines that an action names; all when it names none. Throws for those that there are not. */
async function chosen({ world, record, body }: ActionRequest): Promise<readonly ResourceRecord[]> {
  const machines = await machinesOf(world, record.resource.id);
  const { instanceIds } = shaped(ids, body);
  if (instanceIds === undefined || instanceIds.includes('*')) return machines;
  return instanceIds.map((instanceId) => {
    const machine = machines.find(({ resource }) => resource.name === instanceId);
    if (machine) return machine;
    throw new ArmError(
      400,
      'InvalidParameter',
      `The provided instanceId ${instanceId.slice(0, 32)} is not an active Virtual Machine Scale Set VM instanceId.`,
      { target: 'instanceIds' },
    );
  });
}

function forMachines(next: Power): Action {
  return {
    asynchronous: true,
    async run(request) {
      for (const machine of await chosen(request))
        await request.world.resources.change(machine.resource.id, (there) => withPower(there, next));
      return undefined;
    },
  };
}

/** The capacity goes down with the machines. */
async function deleteMachines(request: ActionRequest): Promise<undefined> {
  const { world, record, body } = request;
  if (shaped(ids, body).instanceIds === undefined) throw missingParameter('instanceIds');
  const going = await chosen(request);
  for (const { resource } of going) await removeMachine(world, resource.id);
  const capacity = (await machinesOf(world, record.resource.id)).length;
  await world.resources.change(record.resource.id, (there) => ({
    ...there,
    resource: { ...there.resource, sku: { ...(there.resource.sku as JsonObject), capacity } },
  }));
  return undefined;
}

async function showSet(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const { [ownIdentity]: _, ...shown } = resource.properties ?? {};
  return { ...resource, ...(await shownIdentity(world, resource)), properties: shown };
}

export const scaleSets: ResourceType = {
  ...slowType,
  type: 'virtualMachineScaleSets',
  prepare,
  effect,
  show: showSet,
  linkedAccess: (body, id) => [...joinRights(body, id), ...linkedIdentities(body)],
  actions: {
    start: forMachines('running'),
    poweroff: forMachines('stopped'),
    deallocate: forMachines('deallocated'),
    restart: forMachines('running'),
    redeploy: forMachines('running'),
    reimage: forMachines('running'),
    reimageall: forMachines('running'),
    delete: { asynchronous: true, run: deleteMachines },
    manualupgrade: {
      asynchronous: true,
      async run(request) {
        if (shaped(ids, request.body).instanceIds === undefined) throw missingParameter('instanceIds');
        const set = await demandRecord(request.world, request.id);
        for (const { resource } of await chosen(request)) await putMachine(request.world, set.resource, resource.name);
        return undefined;
      },
    },
  },
};

const get = { method: 'GET', scope: 'resourceGroup', apiVersions: machineVersions } as const;

export const scaleSetRoutes: readonly ProviderRoute[] = [
  {
    ...get,
    path: 'virtualMachineScaleSets/{set}/instanceView',
    action: 'Microsoft.Compute/virtualMachineScaleSets/instanceView/read',
    async run(request) {
      const id = pathId(request, `virtualMachineScaleSets/${request.parameters.set}`);
      const set = await demandRecord(request.world, id);
      const counts = new Map<string, number>();
      const add = (code: string): void => void counts.set(code, (counts.get(code) ?? 0) + 1);
      for (const machine of await machinesOf(request.world, set.resource.id)) {
        add(`ProvisioningState/${textOf(machine.resource.properties?.provisioningState ?? 'Succeeded').toLowerCase()}`);
        add(`PowerState/${powerOf(machine)}`);
      }
      const state = textOf(set.resource.properties?.provisioningState ?? 'Succeeded');
      return {
        virtualMachine: { statusesSummary: [...counts].map(([code, count]) => ({ code, count })) },
        statuses: [
          {
            code: `ProvisioningState/${state.toLowerCase()}`,
            level: 'Info',
            displayStatus: state === 'Succeeded' ? 'Provisioning succeeded' : state,
            time: set.systemData?.lastModifiedAt ?? new Date(request.world.clock.now()).toISOString(),
          },
        ],
      };
    },
  },
];
