// Discovery one group and one version at a time, as clients asked before there was an aggregated form.
import { createHash } from 'node:crypto';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { type Group, groupsOf, groupVersion } from './groups.ts';
import { subresourcesOf } from './subresources.ts';

/** `/api`. `address` is `host:port` of the server. */
export const apiVersions = (address: string): object => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
});

function describeGroup({ group, versions }: Group): object {
  const served = versions.map(({ version }) => ({ groupVersion: groupVersion(group, version), version }));
  return { name: group, versions: served, preferredVersion: served[0] };
}

/** `/apis`. */
export const apiGroupList = (table: TypeTable): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groupsOf(table)
    .filter(({ group }) => group !== '')
    .map(describeGroup),
});

/** `/apis/<group>`; undefined for groups that are not served. */
export function apiGroup(table: TypeTable, name: string): object | undefined {
  const group = groupsOf(table).find((each) => each.group === name && name !== '');
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) };
}

/** Types that a real server of this version keeps in an older version than it serves; clients see it in the hash. */
const keptIn: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io/customresourcedefinitions': 'v1beta1',
  'storage.k8s.io/volumeattributesclasses': 'v1beta1',
};

/** Tells clients whether two resources are kept in the same form. */
function storageVersionHash({ storage, storageVersion, kind }: ResourceType): string {
  const group = storage.slice(0, storage.lastIndexOf('/'));
  return createHash('sha256')
    .update(`${group}/${keptIn[storage] ?? storageVersion}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}

const isKept = ({ verbs }: ResourceType): boolean => verbs.includes('watch');

function describeResource(type: ResourceType): object[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = type;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(isKept(type) ? { storageVersionHash: storageVersionHash(type) } : {}),
    },
    ...subresourcesOf(type).map((subresource) => ({
      name: `${plural}/${subresource.name}`,
      singularName: '',
      namespaced,
      ...(subresource.foreign ? { group: subresource.kind.group, version: subresource.kind.version } : {}),
      kind: subresource.kind.kind,
      verbs: subresource.verbs,
    })),
  ];
}

/** `/api/v1` and `/apis/<group>/<version>`; undefined for what is not served. */
export function apiResourceList(table: TypeTable, group: string, version: string): object | undefined {
  const found = groupsOf(table)
    .find((each) => each.group === group)
    ?.versions.find((each) => each.version === version);
  return (
    found && {
      kind: 'APIResourceList',
      // Core leaves it out.
      ...(group ? { apiVersion: 'v1' } : {}),
      groupVersion: groupVersion(group, version),
      resources: found.types.flatMap(describeResource),
    }
  );
}
