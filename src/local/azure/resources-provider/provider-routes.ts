// Providers: which namespaces and types there are, and whether a subscription has registered for them.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { type ArmCall, ok } from '../arm/call.ts';
import { wholeList } from '../arm/lists.ts';
import type { KnownType, Namespace } from '../arm/registry.ts';
import type { ArmRoute } from '../arm/routes.ts';
import type { RegistrationState } from '../kernel/subscriptions.ts';
import { ownVersions } from './api-versions.ts';

const apiVersions = ownVersions;
const inSubscription = '/subscriptions/{subscriptionId}/providers';

export const providerRoutes: readonly ArmRoute[] = [
  {
    method: 'GET',
    path: inSubscription,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/providers/read',
    run: async (call, { parameters }) =>
      ok(wholeList(call.registry.namespaces.map((namespace) => shown(call, parameters.subscriptionId, namespace)))),
  },
  {
    method: 'GET',
    path: `${inSubscription}/{namespace}`,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/providers/read',
    run: async (call, { parameters }) => ok(shown(call, parameters.subscriptionId, demand(call, parameters.namespace))),
  },
  {
    method: 'GET',
    path: `${inSubscription}/{namespace}/resourceTypes`,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/providers/read',
    async run(call, { parameters }) {
      const namespace = demand(call, parameters.namespace);
      return ok(wholeList(namespace.types.map((type) => shownType(call, type))));
    },
  },
  {
    method: 'GET',
    path: `${inSubscription}/{namespace}/providerPermissions`,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/providers/read',
    async run(call, { parameters }) {
      demand(call, parameters.namespace);
      return ok(wholeList([]));
    },
  },
  registration('register', 'Registered'),
  registration('unregister', 'NotRegistered'),
  {
    method: 'GET',
    path: '/providers',
    apiVersions,
    run: async (call) => ok(wholeList(call.registry.namespaces.map((namespace) => shown(call, undefined, namespace)))),
  },
  {
    method: 'GET',
    path: '/providers/{namespace}',
    apiVersions,
    run: async (call, { parameters }) => ok(shown(call, undefined, demand(call, parameters.namespace))),
  },
  {
    method: 'GET',
    path: '/providers/Microsoft.Resources/operations',
    apiVersions,
    async run(call) {
      const operations = call.registry.namespaces.flatMap(({ types }) =>
        types.flatMap(({ fullType, namespace, type }) =>
          ['read', 'write', 'delete'].map((verb) => ({
            name: `${fullType}/${verb}`,
            isDataAction: false,
            display: { provider: namespace, resource: type.type, operation: verb },
          })),
        ),
      );
      return ok(wholeList(operations));
    },
  },
];

function registration(word: 'register' | 'unregister', state: RegistrationState): ArmRoute {
  return {
    method: 'POST',
    path: `${inSubscription}/{namespace}/${word}`,
    apiVersions,
    action: `Microsoft.Resources/subscriptions/providers/${word}/action`,
    async run(call, { parameters }) {
      const namespace = demand(call, parameters.namespace);
      const subscriptionId = parameters.subscriptionId ?? '';
      if (word === 'unregister') await demandUnused(call, subscriptionId, namespace);
      await call.world.subscriptions.change(subscriptionId, (subscription) => ({
        ...subscription,
        registrations: { ...subscription.registrations, [foldCase(namespace.namespace)]: state },
      }));
      return ok(shown(call, subscriptionId, namespace));
    },
  };
}

async function demandUnused(call: ArmCall, subscriptionId: string, namespace: Namespace): Promise<void> {
  if (namespace.alwaysRegistered)
    throw new ArmError(
      409,
      'CannotUnregisterResourceProvider',
      `The resource provider '${namespace.namespace}' is registered in every subscription.`,
    );
  for (const { fullType } of namespace.types) {
    const page = await call.world.resources.page({ subscriptionId, type: fullType }, { limit: 1 });
    if (page.records.length === 0) continue;
    throw new ArmError(
      409,
      'UnregisteringResourceProviderFailed',
      `Cannot unregister the resource provider '${namespace.namespace}': the subscription has resources of the type '${fullType}'.`,
    );
  }
}

function demand(call: ArmCall, name: string | undefined): Namespace {
  const found = call.registry.namespace(name ?? '');
  if (found) return found;
  throw new ArmError(
    404,
    'InvalidResourceNamespace',
    `The resource namespace '${(name ?? '').slice(0, 128)}' is invalid.`,
  );
}

function stateOf(call: ArmCall, subscriptionId: string | undefined, namespace: Namespace): RegistrationState {
  if (namespace.alwaysRegistered) return 'Registered';
  const subscription = subscriptionId === undefined ? undefined : call.world.subscriptions.find(subscriptionId);
  return subscription?.registrations[foldCase(namespace.namespace)] ?? 'NotRegistered';
}

function shown(call: ArmCall, subscriptionId: string | undefined, namespace: Namespace) {
  const front = subscriptionId === undefined ? '' : `/subscriptions/${subscriptionId}`;
  return {
    id: `${front}/providers/${namespace.namespace}`,
    namespace: namespace.namespace,
    resourceTypes: namespace.types.map((type) => shownType(call, type)),
    ...(subscriptionId === undefined
      ? {}
      : {
          registrationState: stateOf(call, subscriptionId, namespace),
          registrationPolicy: namespace.alwaysRegistered ? 'RegistrationFree' : 'RegistrationRequired',
        }),
  };
}

function shownType(call: ArmCall, { type }: KnownType) {
  const { locations } = call.world.cloud;
  const places = { required: locations.map(({ displayName }) => displayName), global: ['global'], none: [] } as const;
  const zoned = type.location === 'required' ? locations.filter(({ zones }) => zones) : [];
  return {
    resourceType: type.type,
    locations: places[type.location],
    apiVersions: type.apiVersions,
    defaultApiVersion: type.apiVersions[0],
    ...(zoned.length === 0
      ? {}
      : { zoneMappings: zoned.map(({ displayName }) => ({ location: displayName, zones: ['1', '2', '3'] })) }),
    capabilities: type.location === 'none' ? 'None' : 'SupportsTags, SupportsLocation',
  };
}
