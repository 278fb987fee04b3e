// The API services of the built-in groups, which every cluster has from its start. One copy of them serves all clusters of the
// process; a cluster keeps what it changed of them.
import { createHash } from 'node:crypto';
import type { JsonObject, KubeObject } from '../object.ts';
import { entryOf } from '../objects/entry.ts';
import type { Entry } from '../objects/objects.ts';
import { builtinTypes } from '../types/builtin.ts';

export const apiServiceGroup = 'apiregistration.k8s.io';
export const apiServiceStorage = `${apiServiceGroup}/apiservices`;

/** Says when the server sees to a service: `onstart`, or `true` for always. */
export const automanaged = 'kube-aggregator.kubernetes.io/automanaged';

/** Which groups clients prefer: the higher, the earlier. The group of the services themselves has none. */
const priorities: Readonly<Record<string, number>> = {
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'admissionregistration.k8s.io': 16_700,
  'apiextensions.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'discovery.k8s.io': 16_200,
};

const stableVersion = 15;
const coreVersion = 1;

/** The name of the service of a group and version. */
export const apiServiceName = (group: string, version: string): string => `${version}.${group}`;

/** Their entries, to be shared by all clusters. `createdAt` is RFC 3339 in whole seconds. */
export function builtinApiServiceEntries(createdAt: string): Entry[] {
  const served = new Map(
    builtinTypes().map(({ group, version }) => [apiServiceName(group, version), { group, version }]),
  );
  return [...served.values()].flatMap(({ group, version }) => {
    const priority = priorities[group];
    if (priority === undefined) return [];
    const object = objectOf(group, version, priority, createdAt);
    return [entryOf(apiServiceStorage, object, undefined, { revision: 1, row: 0, before: undefined })];
  });
}

function objectOf(group: string, version: string, priority: number, createdAt: string): KubeObject {
  const name = apiServiceName(group, version);
  const spec: JsonObject = {
    ...(group ? { group } : {}),
    version,
    groupPriorityMinimum: priority,
    versionPriority: group ? stableVersion : coreVersion,
  };
  return {
    apiVersion: `${apiServiceGroup}/v1`,
    kind: 'APIService',
    metadata: {
      name,
      uid: uidOf(name),
      creationTimestamp: createdAt,
      labels: { [automanaged]: 'onstart' },
      managedFields: [
        {
          manager: 'kube-apiserver',
          operation: 'Update',
          apiVersion: `${apiServiceGroup}/v1`,
          time: createdAt,
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { '.': {}, [`f:${automanaged}`]: {} } },
            'f:spec': Object.fromEntries(
              Object.keys(spec)
                .sort()
                .map((member) => [`f:${member}`, {}]),
            ),
          },
        },
      ],
    },
    spec,
    status: {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: createdAt,
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    },
  };
}

/** The same at every start, so that references by uid stay true. */
function uidOf(name: string): string {
  const hex = createHash('sha256').update(`api service ${name}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
