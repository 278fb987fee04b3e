// Subscriptions, tenants and locations.
import { ArmError } from '../../../arm/errors.ts';
import { type ArmCall, ok } from '../arm/call.ts';
import { wholeList } from '../arm/lists.ts';
import type { ArmRoute } from '../arm/routes.ts';
import { roleAccessOf } from '../authorization/access.ts';
import type { Location } from '../cloud.ts';
import type { Subscription } from '../kernel/subscriptions.ts';
import { ownVersions } from './api-versions.ts';

const apiVersions = ownVersions;

export const subscriptionRoutes: readonly ArmRoute[] = [
  {
    method: 'GET',
    path: '/subscriptions',
    apiVersions,
    async run(call) {
      const access = roleAccessOf(call.world);
      const seen: unknown[] = [];
      // Those who have a role on a group only must find the subscription that it is in.
      for (const subscription of call.world.subscriptions.list())
        if (await access.hasRoleIn(call.caller, subscription.subscriptionId)) seen.push(shown(subscription));
      return ok({ ...wholeList(seen), count: { type: 'Total', value: seen.length } });
    },
  },
  {
    method: 'GET',
    path: '/subscriptions/{subscriptionId}',
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/read',
    run: async (call, { parameters }) => ok(shown(subscriptionOf(call, parameters.subscriptionId))),
  },
  {
    method: 'GET',
    path: '/subscriptions/{subscriptionId}/locations',
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/locations/read',
    async run(call, { parameters }) {
      const { subscriptionId } = subscriptionOf(call, parameters.subscriptionId);
      const { locations } = call.world.cloud;
      return ok(wholeList(locations.map((location) => shownLocation(subscriptionId, location, locations))));
    },
  },
  {
    method: 'POST',
    path: '/subscriptions/{subscriptionId}/providers/Microsoft.Resources/checkZonePeers',
    apiVersions,
    action: 'Microsoft.Resources/checkZonePeers/action',
    async run(call, { parameters }) {
      const { subscriptionId } = subscriptionOf(call, parameters.subscriptionId);
      const peers = ['1', '2', '3'].map((zone) => ({ availabilityZone: zone, peers: [] }));
      return ok({ subscriptionId, location: '', availabilityZonePeers: peers });
    },
  },
  {
    method: 'GET',
    path: '/tenants',
    apiVersions,
    async run(call) {
      const { tenantId } = call.world.directory;
      return ok(
        wholeList([
          {
            id: `/tenants/${tenantId}`,
            tenantId,
            tenantCategory: 'Home',
            displayName: call.world.cloud.name,
            defaultDomain: `${call.world.cloud.name.toLowerCase()}.${call.world.cloud.suffix}`,
            domains: [`${call.world.cloud.name.toLowerCase()}.${call.world.cloud.suffix}`],
            countryCode: 'US',
            tenantType: 'AAD',
          },
        ]),
      );
    },
  },
];

/** The front has seen that it exists. */
export function subscriptionOf(call: ArmCall, subscriptionId: string | undefined): Subscription {
  const found = call.world.subscriptions.find(subscriptionId ?? '');
  if (found) return found;
  throw new ArmError(404, 'SubscriptionNotFound', `The subscription '${subscriptionId}' could not be found.`);
}

function shown({ subscriptionId, displayName, state, tenantId, tags }: Subscription) {
  return {
    id: `/subscriptions/${subscriptionId}`,
    authorizationSource: 'RoleBased',
    managedByTenants: [],
    subscriptionId,
    tenantId,
    displayName,
    state,
    subscriptionPolicies: {
      locationPlacementId: 'Public_2014-09-01',
      quotaId: 'PayAsYouGo_2014-09-01',
      spendingLimit: 'Off',
    },
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
  };
}

function shownLocation(subscriptionId: string, location: Location, all: readonly Location[]) {
  const { name, displayName, pairedWith, zones } = location;
  const idOf = (place: string): string => `/subscriptions/${subscriptionId}/locations/${place}`;
  const paired = pairedWith !== undefined && all.some((other) => other.name === pairedWith);
  return {
    id: idOf(name),
    name,
    type: 'Region',
    displayName,
    regionalDisplayName: displayName,
    metadata: {
      regionType: 'Physical',
      regionCategory: zones ? 'Recommended' : 'Other',
      geography: displayName,
      geographyGroup: displayName,
      pairedRegion: paired ? [{ name: pairedWith, id: idOf(pairedWith) }] : [],
      physicalLocation: displayName,
    },
    ...(zones
      ? {
          availabilityZoneMappings: ['1', '2', '3'].map((zone) => ({
            logicalZone: zone,
            physicalZone: `${name}-az${zone}`,
          })),
        }
      : {}),
  };
}
