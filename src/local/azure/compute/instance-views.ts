// Instance views: how machines are right now.

import { ArmError, notFound } from '../../../arm/errors.ts';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { ProviderRoute, RouteRequest } from '../kernel/provider.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { textOf } from '../network/text.ts';
import { machineVersions } from './api-versions.ts';
import { statusesOf } from './power.ts';
import { vmSizes } from './sizes.ts';
import { sizeView } from './skus.ts';

export function instanceView(world: World, record: ResourceRecord): JsonObject {
  const { properties = {} } = record.resource;
  const time = record.systemData?.lastModifiedAt ?? new Date(world.clock.now()).toISOString();
  const { osProfile, storageProfile, diagnosticsProfile } = properties as {
    readonly [name: string]: JsonObject | undefined;
  };
  const image = storageProfile?.imageReference as JsonObject | undefined;
  const disks = [storageProfile?.osDisk, ...((storageProfile?.dataDisks ?? []) as readonly JsonObject[])];
  const boot = diagnosticsProfile?.bootDiagnostics as JsonObject | undefined;
  return {
    ...(osProfile?.computerName === undefined ? {} : { computerName: osProfile.computerName }),
    osName: textOf(image?.offer ?? 'linux'),
    osVersion: textOf(image?.exactVersion ?? ''),
    hyperVGeneration: 'V2',
    vmAgent: {
      vmAgentVersion: '2.9.1.1',
      statuses: [
        {
          code: 'ProvisioningState/succeeded',
          level: 'Info',
          displayStatus: 'Ready',
          message: 'Guest Agent is running',
          time,
        },
      ],
    },
    disks: (disks as readonly (JsonObject | undefined)[]).flatMap((disk) =>
      disk === undefined
        ? []
        : [
            {
              name: disk.name ?? '',
              statuses: [
                { code: 'ProvisioningState/succeeded', level: 'Info', displayStatus: 'Provisioning succeeded', time },
              ],
            },
          ],
    ),
    ...(boot?.enabled === true ? { bootDiagnostics: {} } : {}),
    statuses: statusesOf(record, time),
  };
}

export function pathId({ on }: RouteRequest, path: string): ResourceId {
  const parsed = parseResourceId(`${on?.text ?? ''}/providers/Microsoft.Compute/${path}`);
  if (parsed.ok) return parsed.id;
  throw new ArmError(400, 'InvalidResourceName', 'The name of the resource is not valid.');
}

/** The record that a path names. Throws 404. */
export async function demandRecord(world: World, id: ResourceId): Promise<ResourceRecord> {
  const document = await world.resources.read(id.key);
  if (document === undefined) throw notFound(id);
  return document.body;
}

/** The machine, with its view within when it was asked for. */
async function withView(request: RouteRequest, id: ResourceId): Promise<JsonObject> {
  const { world, query, apiVersion } = request;
  const shown = await world.resources.show(id, apiVersion);
  const expand = (query.$expand ?? '').toLowerCase();
  if (expand !== 'instanceview' && expand !== 'userdata' && expand !== '')
    throw new ArmError(400, 'InvalidParameter', `The value '${expand.slice(0, 64)}' of $expand is not supported.`);
  if (expand !== 'instanceview') return shown;
  const view = instanceView(world, await demandRecord(world, id));
  return { ...shown, properties: { ...shown.properties, instanceView: view } };
}

const get = { method: 'GET', scope: 'resourceGroup', apiVersions: machineVersions } as const;

export const machineRoutes: readonly ProviderRoute[] = [
  {
    ...get,
    path: 'virtualMachines/{name}',
    action: 'Microsoft.Compute/virtualMachines/read',
    run: async (request) => withView(request, pathId(request, `virtualMachines/${request.parameters.name}`)),
  },
  {
    ...get,
    path: 'virtualMachines/{name}/instanceView',
    action: 'Microsoft.Compute/virtualMachines/instanceView/read',
    async run(request) {
      const id = pathId(request, `virtualMachines/${request.parameters.name}`);
      return instanceView(request.world, await demandRecord(request.world, id));
    },
  },
  {
    ...get,
    path: 'virtualMachines/{name}/vmSizes',
    action: 'Microsoft.Compute/virtualMachines/vmSizes/read',
    async run(request) {
      await demandRecord(request.world, pathId(request, `virtualMachines/${request.parameters.name}`));
      return { value: vmSizes.map(sizeView) };
    },
  },
  {
    ...get,
    path: 'virtualMachineScaleSets/{set}/virtualMachines/{name}',
    action: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read',
    run: async (request) =>
      withView(
        request,
        pathId(request, `virtualMachineScaleSets/${request.parameters.set}/virtualMachines/${request.parameters.name}`),
      ),
  },
  {
    ...get,
    path: 'virtualMachineScaleSets/{set}/virtualMachines/{name}/instanceView',
    action: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/instanceView/read',
    async run(request) {
      const { set, name } = request.parameters;
      const id = pathId(request, `virtualMachineScaleSets/${set}/virtualMachines/${name}`);
      return instanceView(request.world, await demandRecord(request.world, id));
    },
  },
];
