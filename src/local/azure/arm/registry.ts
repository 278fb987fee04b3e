// Which namespaces and types there are. A namespace may be told by several providers (Microsoft.Resources: groups here, deployments
// there); to clients it is one.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { createCatalogue } from '../kernel/catalogue.ts';
import type { Provider, ProviderRoute, ResourceType } from '../kernel/provider.ts';
import { resourceGroupType } from '../kernel/resource-group.ts';

export interface KnownType {
  readonly namespace: string;
  /** `Microsoft.Network/virtualNetworks`, spelt as Azure does. */
  readonly fullType: string;
  readonly type: ResourceType;
  /** Folded. */
  readonly apiVersions: ReadonlySet<string>;
}

export interface Namespace {
  readonly namespace: string;
  readonly alwaysRegistered: boolean;
  readonly types: readonly KnownType[];
  readonly routes: readonly ProviderRoute[];
}

export interface Registry {
  /** By name. */
  readonly namespaces: readonly Namespace[];
  /** Any case. */
  namespace(name: string): Namespace | undefined;
  /** By full type, any case. */
  type(fullType: string): KnownType | undefined;
  /** The type of an id in a version. Throws what ARM says to namespaces, types and versions it does not know. */
  demand(id: ResourceId, apiVersion: string): KnownType;
  /** As {@link Registry.demand}, for a type that no id names. */
  demandType(namespace: string, type: string, apiVersion: string): KnownType;
}

export function createRegistry(providers: readonly Provider[]): Registry {
  const namespaces = new Map<string, Namespace>();
  const types = new Map<string, KnownType>();
  const catalogue = createCatalogue(providers);
  const add = (provider: Provider): void => {
    const key = foldCase(provider.namespace);
    const before = namespaces.get(key);
    const namespace = before?.namespace ?? provider.namespace;
    const known = provider.types.map(
      (type): KnownType => ({
        namespace,
        fullType: `${namespace}/${type.type}`,
        type,
        apiVersions: new Set(type.apiVersions.map(foldCase)),
      }),
    );
    for (const entry of known) types.set(foldCase(entry.fullType), entry);
    namespaces.set(key, {
      namespace,
      alwaysRegistered: provider.alwaysRegistered === true || before?.alwaysRegistered === true,
      types: [...(before?.types ?? []), ...known],
      routes: [...(before?.routes ?? []), ...(provider.routes ?? [])],
    });
  };
  add({ namespace: 'Microsoft.Resources', alwaysRegistered: true, types: [resourceGroupType] });
  for (const provider of providers) add(provider);

  const demand = (id: ResourceId, apiVersion: string): KnownType => {
    const known = types.get(foldCase(id.type));
    if (known?.apiVersions.has(foldCase(apiVersion))) return known;
    catalogue.demand(id, apiVersion);
    throw new ArmError(404, 'InvalidResourceType', `The resource type '${id.type}' could not be found.`);
  };
  return {
    namespaces: [...namespaces.values()].sort((a, b) => (foldCase(a.namespace) < foldCase(b.namespace) ? -1 : 1)),
    namespace: (name) => namespaces.get(foldCase(name)),
    type: (fullType) => types.get(foldCase(fullType)),
    demand,
    demandType(namespace, type, apiVersion) {
      const example = type
        .split('/')
        .map((word) => `${word}/name`)
        .join('/');
      const id = parseResourceId(`/providers/${namespace}/${example}`);
      if (id.ok) return demand(id.id, apiVersion);
      throw new ArmError(404, 'InvalidResourceType', `The resource type '${type.slice(0, 128)}' could not be found.`);
    },
  };
}
