// The resource types of the cloud by name, and what is said to those who ask for others.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import type { Provider, ResourceType } from './provider.ts';
import { groupType, resourceGroupType } from './resource-group.ts';

export interface KnownType {
  readonly namespace: string;
  /** Spelt as Azure does: `Microsoft.Network/virtualNetworks`. */
  readonly fullType: string;
  /** Folded. */
  readonly key: string;
  readonly definition: ResourceType;
}

export interface Catalogue {
  /** By folded full type. */
  find(key: string): KnownType | undefined;
  /** The type of an id, whatever the api-version. Throws what ARM says to unknown namespaces and types. */
  typeOf(id: ResourceId): KnownType;
  /** The same, for a request. Throws what ARM says to unknown namespaces and types, and to api-versions that are missing or unknown. */
  demand(id: ResourceId, apiVersion: string | undefined): KnownType;
}

export function createCatalogue(providers: readonly Provider[]): Catalogue {
  const types = new Map<string, KnownType>();
  const namespaces = new Set<string>();
  const add = (namespace: string, definition: ResourceType): void => {
    const fullType = `${namespace}/${definition.type}`;
    types.set(foldCase(fullType), { namespace, fullType, key: foldCase(fullType), definition });
  };
  add('Microsoft.Resources', resourceGroupType);
  let count = 0;
  /** Namespaces and types may come while the cloud runs. */
  const grow = (): void => {
    const now = providers.reduce((sum, { types: own }) => sum + own.length + 1, 0);
    if (now === count) return;
    count = now;
    for (const provider of providers) {
      namespaces.add(foldCase(provider.namespace));
      for (const definition of provider.types) add(provider.namespace, definition);
    }
  };
  grow();
  const find = (key: string): KnownType | undefined => {
    const there = types.get(key);
    if (there) return there;
    grow();
    return types.get(key);
  };

  const typeOf = (id: ResourceId, apiVersion?: string): KnownType => {
    const key = foldCase(id.type);
    const known = find(key);
    if (known === undefined || (key === groupType) !== (id.types.length === 0))
      throw unknownType(id, apiVersion, namespaces.has(foldCase(id.provider ?? '')));
    return known;
  };

  return {
    find,
    typeOf: (id) => typeOf(id),
    demand(id, apiVersion) {
      const known = typeOf(id, apiVersion);
      if (apiVersion === undefined || apiVersion === '')
        throw new ArmError(
          400,
          'MissingApiVersionParameter',
          'The api-version query parameter (?api-version=) is required for all requests.',
        );
      const asked = foldCase(apiVersion);
      if (!known.definition.apiVersions.some((version) => foldCase(version) === asked))
        throw unknownVersion(known, apiVersion);
      return known;
    },
  };
}

function unknownType(id: ResourceId, apiVersion: string | undefined, isNamespaceKnown: boolean): ArmError {
  const namespace = id.provider ?? 'Microsoft.Resources';
  if (!isNamespaceKnown && id.provider !== undefined)
    return new ArmError(404, 'InvalidResourceNamespace', `The resource namespace '${namespace}' is invalid.`);
  const version = apiVersion === undefined ? '' : ` for api version '${apiVersion.slice(0, 64)}'`;
  return new ArmError(
    404,
    'InvalidResourceType',
    `The resource type '${id.types.join('/')}' could not be found in the namespace '${namespace}'${version}.`,
  );
}

function unknownVersion({ key, definition }: KnownType, apiVersion: string): ArmError {
  const supported = definition.apiVersions.join(', ');
  const asked = apiVersion.slice(0, 64);
  if (key === groupType)
    return new ArmError(
      400,
      'InvalidApiVersionParameter',
      `The api-version '${asked}' is invalid. The supported versions are '${supported}'.`,
    );
  return new ArmError(
    400,
    'NoRegisteredProviderFound',
    `No registered resource provider found for API version '${asked}' for type '${definition.type}'. ` +
      `The supported api-versions are '${supported}'.`,
  );
}

export function notAllowed({ fullType }: KnownType, method: string): ArmError {
  const message = `The HTTP method '${method}' is not supported for resources of type '${fullType}'.`;
  return new ArmError(405, 'MethodNotAllowed', message);
}
