// Power states of machines: how actions change them, and how instance views tell them.

import { ArmError } from '../../../arm/errors.ts';
import type { Action } from '../kernel/provider.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import { textOf } from '../network/text.ts';

export type Power = 'running' | 'stopped' | 'deallocated';

/** Where the state is kept; not shown but in instance views. */
export const powerMember = 'powerState';

const labels: { readonly [power in Power]: string } = {
  running: 'VM running',
  stopped: 'VM stopped',
  deallocated: 'VM deallocated',
};

export function powerOf({ resource }: Pick<ResourceRecord, 'resource'>): Power {
  const kept = resource.properties?.[powerMember];
  return kept === 'stopped' || kept === 'deallocated' ? kept : 'running';
}

export function withPower(record: ResourceRecord, power: Power): ResourceRecord {
  const { resource } = record;
  return { ...record, resource: { ...resource, properties: { ...resource.properties, [powerMember]: power } } };
}

/** The statuses of an instance view. */
export function statusesOf(record: ResourceRecord, time: string): readonly JsonObject[] {
  const state = textOf(record.resource.properties?.provisioningState ?? 'Succeeded').toLowerCase();
  const shown = record.operation !== undefined && state === 'succeeded' ? 'updating' : state;
  const power = powerOf(record);
  const provisioning: JsonObject = {
    code: `ProvisioningState/${shown}`,
    level: shown === 'failed' ? 'Error' : 'Info',
    displayStatus: shown === 'succeeded' ? 'Provisioning succeeded' : shown.charAt(0).toUpperCase() + shown.slice(1),
    time,
  };
  // A machine that is being made has no power yet.
  if (shown === 'creating') return [provisioning];
  const generalized: JsonObject[] =
    record.resource.properties?.isGeneralized === true
      ? [{ code: 'OSState/generalized', level: 'Info', displayStatus: 'VM generalized' }]
      : [];
  return [provisioning, ...generalized, { code: `PowerState/${power}`, level: 'Info', displayStatus: labels[power] }];
}

/** An action that ends in a state; undefined leaves it. */
export function powerAction(next: Power | undefined, needs?: { readonly power: Power; readonly verb: string }): Action {
  return {
    asynchronous: true,
    async run({ world, record }) {
      if (record.resource.properties?.isGeneralized === true && next === 'running')
        throw new ArmError(
          409,
          'OperationNotAllowed',
          `Operation 'start' is not allowed on VM '${record.resource.name}' since the VM is generalized.`,
        );
      if (needs !== undefined && powerOf(record) !== needs.power)
        throw new ArmError(
          409,
          'OperationNotAllowed',
          `The VM must be ${needs.power === 'running' ? 'running' : needs.power} to be able to ${needs.verb}.`,
        );
      if (next !== undefined) await world.resources.change(record.resource.id, (there) => withPower(there, next));
      return undefined;
    },
  };
}

export const powerActions: { readonly [name: string]: Action } = {
  start: powerAction('running'),
  poweroff: powerAction('stopped'),
  deallocate: powerAction('deallocated'),
  restart: powerAction('running', { power: 'running', verb: 'restart' }),
  redeploy: powerAction('running'),
  reapply: powerAction(undefined),
  reimage: powerAction(undefined),
  performmaintenance: powerAction(undefined),
  simulateeviction: { run: async () => undefined },
};
