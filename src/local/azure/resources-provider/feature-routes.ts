// Microsoft.Features: preview features that a subscription asks for. Any name can be asked for; it is granted at once.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { ok } from '../arm/call.ts';
import { wholeList } from '../arm/lists.ts';
import type { ArmRoute } from '../arm/routes.ts';
import { featureVersions as apiVersions } from './api-versions.ts';
import { subscriptionOf } from './subscription-routes.ts';

const root = '/subscriptions/{subscriptionId}/providers/Microsoft.Features';
const featureForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const maxFeatures = 500;

export const featureRoutes: readonly ArmRoute[] = [
  {
    method: 'GET',
    path: `${root}/features`,
    apiVersions,
    action: 'Microsoft.Features/features/read',
    run: async (call, { parameters }) => {
      const { subscriptionId, features } = subscriptionOf(call, parameters.subscriptionId);
      return ok(wholeList(Object.entries(features).map(([name, state]) => shown(subscriptionId, name, state))));
    },
  },
  {
    method: 'GET',
    path: `${root}/providers/{namespace}/features`,
    apiVersions,
    action: 'Microsoft.Features/providers/features/read',
    run: async (call, { parameters }) => {
      const { subscriptionId, features } = subscriptionOf(call, parameters.subscriptionId);
      const front = `${foldCase(parameters.namespace ?? '')}/`;
      const own = Object.entries(features).filter(([name]) => foldCase(name).startsWith(front));
      return ok(wholeList(own.map(([name, state]) => shown(subscriptionId, name, state))));
    },
  },
  {
    method: 'GET',
    path: `${root}/providers/{namespace}/features/{feature}`,
    apiVersions,
    action: 'Microsoft.Features/providers/features/read',
    run: async (call, { parameters }) => {
      const { subscriptionId, features } = subscriptionOf(call, parameters.subscriptionId);
      const name = nameOf(parameters);
      return ok(shown(subscriptionId, name, stateOf(features, name)));
    },
  },
  change('register', 'Registered'),
  change('unregister', 'Unregistered'),
];

function change(word: 'register' | 'unregister', state: string): ArmRoute {
  return {
    method: 'POST',
    path: `${root}/providers/{namespace}/features/{feature}/${word}`,
    apiVersions,
    action: `Microsoft.Features/providers/features/${word}/action`,
    async run(call, { parameters }) {
      const { subscriptionId, features } = subscriptionOf(call, parameters.subscriptionId);
      const name = nameOf(parameters);
      if (Object.keys(features).length >= maxFeatures)
        throw new ArmError(409, 'TooManyFeatures', `A subscription may have ${maxFeatures} features.`);
      await call.world.subscriptions.change(subscriptionId, (subscription) => ({
        ...subscription,
        features: {
          ...Object.fromEntries(
            Object.entries(subscription.features).filter(([other]) => foldCase(other) !== foldCase(name)),
          ),
          [name]: state,
        },
      }));
      return ok(shown(subscriptionId, name, state));
    },
  };
}

/** `namespace/name`, spelt as the caller does. */
function nameOf({ namespace = '', feature = '' }: { readonly [name: string]: string }): string {
  if (featureForm.test(namespace) && featureForm.test(feature)) return `${namespace}/${feature}`;
  throw new ArmError(404, 'FeatureNotFound', `The feature '${feature.slice(0, 128)}' could not be found.`);
}

function stateOf(features: { readonly [name: string]: string }, name: string): string {
  const found = Object.entries(features).find(([other]) => foldCase(other) === foldCase(name));
  return found?.[1] ?? 'NotRegistered';
}

function shown(subscriptionId: string, name: string, state: string) {
  const [namespace, feature] = name.split('/');
  return {
    id: `/subscriptions/${subscriptionId}/providers/Microsoft.Features/providers/${namespace}/features/${feature}`,
    name,
    type: 'Microsoft.Features/providers/features',
    properties: { state },
  };
}
