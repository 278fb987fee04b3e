// Aggregated discovery: everything in one answer.
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { type Group, groupsOf } from './groups.ts';
import { type ServedKind, subresourcesOf } from './subresources.ts';

/** Kinds of the type's own group and version are written without them, but for custom resources. */
const responseKind = (type: ResourceType, { group, version, kind }: ServedKind, foreign: boolean): ServedKind =>
  foreign || type.custom ? { group, version, kind } : { group: '', version: '', kind };

function describeResource(type: ResourceType): object {
  const { plural, singular, namespaced, verbs, shortNames, categories } = type;
  const subresources = subresourcesOf(type);
  return {
    resource: plural,
    responseKind: responseKind(type, type, false),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map(({ name, verbs: served, kind, foreign }) => ({
            subresource: name,
            responseKind: responseKind(type, kind, foreign),
            verbs: served,
          })),
        }
      : {}),
  };
}

const describeGroup = ({ group, versions }: Group): object => ({
  metadata: group ? { name: group } : {},
  versions: versions.map(({ version, types }) => ({
    version,
    resources: types.map(describeResource),
    freshness: 'Current',
  })),
});

export type AggregatedVersion = 'v2' | 'v2beta1';

/** `/api` (core) or `/apis` (all others) in the aggregated form. */
export const groupDiscoveryList = (table: TypeTable, core: boolean, version: AggregatedVersion = 'v2'): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items: groupsOf(table)
    .filter(({ group }) => (group === '') === core)
    .map(describeGroup),
});
