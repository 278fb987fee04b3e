// The test providers with `boxes`, which something stands behind and which take two steps to be made and to be removed.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Provider, ResourceType } from '../provider.ts';
import { testProviders, version } from './kernel.ts';

const boxes: ResourceType = {
  type: 'boxes',
  apiVersions: [version],
  scope: 'resourceGroup',
  location: 'required',
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  effect: async (_, { kind }) => {
    await nextTurn();
    return kind === 'delete' ? undefined : { made: true };
  },
};

export const chaosProviders: readonly Provider[] = testProviders.map((provider) =>
  provider.namespace === 'Microsoft.Test' ? { ...provider, types: [...provider.types, boxes] } : provider,
);
