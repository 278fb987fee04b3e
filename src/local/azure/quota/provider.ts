// Microsoft.Quota: limits of Microsoft.Compute, to read and to raise.
import { ArmError, invalidParameter } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { normalLocation } from '../kernel/place.ts';
import type { PrepareRequest, Provider, ProviderRoute, RouteRequest } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { isQuotaName, type Quota, quotaId, quotasOf } from './limits.ts';

const apiVersions = [
  '2025-09-01',
  '2025-07-15',
  '2025-03-01',
  '2024-12-18-preview',
  '2023-02-01',
  '2021-03-15-preview',
];

/** `…/providers/Microsoft.Compute/locations/{location}` is all that has quotas here. */
function placeOf(on: ResourceId | undefined): { readonly subscriptionId: string; readonly location: string } {
  if (on?.subscriptionId !== undefined && foldCase(on.type) === 'microsoft.compute/locations')
    return { subscriptionId: on.subscriptionId, location: normalLocation(on.name) };
  throw new ArmError(
    400,
    'InvalidResourceProvider',
    'Quotas are those of /subscriptions/{subscriptionId}/providers/Microsoft.Compute/locations/{location}.',
  );
}

async function found({ world, on, parameters }: RouteRequest): Promise<{ readonly quota: Quota; readonly id: string }> {
  const { subscriptionId, location } = placeOf(on);
  const name = parameters.name ?? '';
  const quota = (await quotasOf(world, subscriptionId, location)).find((one) => foldCase(one.name) === foldCase(name));
  if (quota === undefined) throw new ArmError(404, 'ResourceNotFound', `There is no quota '${name.slice(0, 100)}'.`);
  return { quota, id: quotaId(subscriptionId, location, quota.name) };
}

function quotaView({ name, label, limit }: Quota, id: string): JsonObject {
  return {
    id,
    name,
    type: 'Microsoft.Quota/Quotas',
    properties: {
      limit: { limitObjectType: 'LimitValue', limitType: 'Independent', value: limit },
      name: { value: name, localizedValue: label },
      isQuotaApplicable: true,
      unit: 'Count',
      properties: {},
    },
  };
}

function usageView({ name, label, used }: Quota, id: string): JsonObject {
  return {
    id: id.replace('/quotas/', '/usages/'),
    name,
    type: 'Microsoft.Quota/Usages',
    properties: {
      usages: { usagesType: 'Individual', value: used },
      name: { value: name, localizedValue: label },
      isQuotaApplicable: true,
      unit: 'Count',
      properties: {},
    },
  };
}

function routesOf(word: 'quotas' | 'usages', view: typeof quotaView): readonly ProviderRoute[] {
  const common = { method: 'GET', scope: 'extension', apiVersions, action: `Microsoft.Quota/${word}/read` } as const;
  return [
    {
      ...common,
      path: word,
      async run({ world, on }) {
        const { subscriptionId, location } = placeOf(on);
        const quotas = await quotasOf(world, subscriptionId, location);
        return { value: quotas.map((quota) => view(quota, quotaId(subscriptionId, location, quota.name))) };
      },
    },
    {
      ...common,
      path: `${word}/{name}`,
      async run(request) {
        const { quota, id } = await found(request);
        return view(quota, id);
      },
    },
  ];
}

const bodySchema = Type.Object({
  properties: Type.Object({
    limit: Type.Object({ value: Type.Integer({ minimum: 0, maximum: 1_000_000 }) }),
  }),
});

function prepare({ id, body }: PrepareRequest) {
  placeOf(id.extends);
  if (!isQuotaName(id.name)) throw invalidParameter(`There is no quota '${id.name.slice(0, 100)}'.`, 'name');
  return { resource: { properties: (body.properties ?? {}) as JsonObject }, references: {} };
}

export const quotaProvider: Provider = {
  namespace: 'Microsoft.Quota',
  types: [
    {
      type: 'quotas',
      apiVersions,
      scope: 'extension',
      location: 'none',
      schema: bodySchema,
      patch: 'merge',
      asynchrony: { create: 'operation', update: 'operation', delete: 'none' },
      prepare,
    },
  ],
  routes: [...routesOf('quotas', quotaView), ...routesOf('usages', usageView)],
};
