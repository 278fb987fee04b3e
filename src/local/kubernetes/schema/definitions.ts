// The schemas of the built-in types, as a real kube-apiserver publishes them. One file of data per API group, read when
// something of that group is first asked for, and shared by all clusters. scripts/kubernetes-schemas.ts writes the data.
import { readFileSync } from 'node:fs';
import type { Schema } from './schema.ts';

interface DefinitionFile {
  readonly definitions: ReadonlyMap<string, Schema>;
  /** By `group/version/kind`. */
  readonly kinds: ReadonlyMap<string, Schema>;
}

/** API groups we serve and the file that holds their definitions. */
const fileOfGroup: Readonly<Record<string, string>> = {
  '': 'core',
  'admissionregistration.k8s.io': 'admissionregistration',
  'apiextensions.k8s.io': 'apiextensions',
  'apiregistration.k8s.io': 'apiregistration',
  apps: 'apps',
  'authentication.k8s.io': 'authentication',
  'authorization.k8s.io': 'authorization',
  autoscaling: 'autoscaling',
  batch: 'batch',
  'certificates.k8s.io': 'certificates',
  'coordination.k8s.io': 'coordination',
  'discovery.k8s.io': 'discovery',
  'events.k8s.io': 'events',
  'networking.k8s.io': 'networking',
  policy: 'policy',
  'rbac.authorization.k8s.io': 'rbac',
  'scheduling.k8s.io': 'scheduling',
  'storage.k8s.io': 'storage',
};

const files = new Map<string, DefinitionFile>();

function load(file: string): DefinitionFile {
  const loaded = files.get(file);
  if (loaded) return loaded;
  const data = JSON.parse(readFileSync(new URL(`./data/${file}.json`, import.meta.url), 'utf8')) as Record<
    string,
    Schema
  >;
  const definitions = new Map(Object.entries(data));
  const kinds = new Map<string, Schema>();
  for (const schema of definitions.values()) {
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
      kinds.set(`${group}/${version}/${kind}`, schema);
    }
  }
  const result = { definitions, kinds };
  files.set(file, result);
  return result;
}

function fileOf(name: string): string {
  if (name.startsWith('io.k8s.apimachinery.')) return 'meta';
  // io.k8s.api.<group>.v1.X, io.k8s.apiextensions-apiserver.pkg.apis.<group>.v1.X, io.k8s.kube-aggregator.pkg.apis.<group>.v1.X
  return name.split('.').at(-3) ?? '';
}

/** The definition of a full name such as `io.k8s.api.apps.v1.Deployment`. Throws when there is none: names come from our data. */
export function definition(name: string): Schema {
  const file = fileOf(name);
  const found =
    Object.values(fileOfGroup).includes(file) || file === 'meta' ? load(file).definitions.get(name) : undefined;
  if (!found) throw new Error(`no schema is known by the name ${name}`);
  return found;
}

/** The schema of a built-in kind; undefined for kinds we do not have. Options and Status of meta/v1 are found in every group. */
export function schemaOfKind(group: string, version: string, kind: string): Schema | undefined {
  const file = Object.hasOwn(fileOfGroup, group) ? fileOfGroup[group] : undefined;
  const key = `${group}/${version}/${kind}`;
  return (file ? load(file).kinds.get(key) : undefined) ?? load('meta').kinds.get(key);
}

/** Every definition of a group's file by full name, for those who publish them; `meta` names the types shared by all groups. */
export function definitionsOf(group: string | 'meta'): ReadonlyMap<string, Schema> {
  const file = group === 'meta' ? group : Object.hasOwn(fileOfGroup, group) ? fileOfGroup[group] : undefined;
  return file === undefined ? new Map() : load(file).definitions;
}
