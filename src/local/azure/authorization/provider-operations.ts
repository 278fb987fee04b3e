// What actions the namespaces of the cloud have, for those who write roles.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { Provider, ProviderRoute } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';

const apiVersions = ['2022-04-01', '2018-07-01', '2018-01-01-preview', '2015-07-01'];
const read = {
  method: 'GET',
  scope: 'tenant',
  apiVersions,
  action: 'Microsoft.Authorization/providerOperations/read',
} as const;

export const providerOperationRoutes: readonly ProviderRoute[] = [
  {
    ...read,
    path: 'providerOperations',
    run: async ({ world }) => ({ value: namespacesOf(world.providers).map(metadata) }),
  },
  {
    ...read,
    path: 'providerOperations/{namespace}',
    async run({ world, parameters }) {
      const name = foldCase(parameters.namespace ?? '');
      const found = namespacesOf(world.providers).find(({ namespace }) => foldCase(namespace) === name);
      if (found) return metadata(found);
      throw new ArmError(404, 'ProviderNotFound', `Provider '${name.slice(0, 128)}' not found.`);
    },
  },
];

interface Namespace {
  readonly namespace: string;
  readonly types: Provider['types'];
}

/** A namespace may be told by several providers. */
function namespacesOf(providers: readonly Provider[]): readonly Namespace[] {
  const found = new Map<string, Namespace>();
  for (const { namespace, types } of providers) {
    const before = found.get(foldCase(namespace));
    found.set(foldCase(namespace), {
      namespace: before?.namespace ?? namespace,
      types: [...(before?.types ?? []), ...types],
    });
  }
  return [...found.values()];
}

function metadata({ namespace, types }: Namespace): JsonObject {
  return {
    id: `/providers/Microsoft.Authorization/providerOperations/${namespace}`,
    name: namespace,
    type: 'Microsoft.Authorization/providerOperations',
    displayName: namespace,
    operations: [],
    resourceTypes: types.map(({ type, actions = {} }) => ({
      name: type,
      displayName: type,
      operations: [
        ...['read', 'write', 'delete'].map((verb) => `${namespace}/${type}/${verb}`),
        ...Object.entries(actions).map(([name, { action }]) => action ?? `${namespace}/${type}/${name}/action`),
      ].map((name) => ({ name, displayName: name, isDataAction: false, origin: 'user,system' })),
    })),
  };
}
