// The types of a table by group and version, in the order in which discovery names them.
import type { ResourceType, TypeTable } from '../types/resource-type.ts';

export interface Version {
  readonly version: string;
  readonly types: readonly ResourceType[];
}

export interface Group {
  /** Empty for core. */
  readonly group: string;
  readonly versions: readonly Version[];
}

const versionForm = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const stability: Readonly<Record<string, number>> = { alpha: 1, beta: 2 };

/** Stable before beta before alpha, higher before lower, then whatever is no version number, by name. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [versionForm.exec(one), versionForm.exec(other)];
  if (!a || !b) return a ? -1 : b ? 1 : one < other ? -1 : one > other ? 1 : 0;
  const level = (match: RegExpExecArray): number => stability[match[2] ?? ''] ?? 3;
  return level(b) - level(a) || Number(b[1]) - Number(a[1]) || Number(b[3] ?? 0) - Number(a[3] ?? 0);
}

/** Built-in groups in their own order, then those of custom resources by name; versions by preference. */
export function groupsOf(table: TypeTable): readonly Group[] {
  const found = new Map<string, { custom: boolean; versions: Map<string, ResourceType[]> }>();
  for (const type of table.all()) {
    let group = found.get(type.group);
    if (!group) {
      group = { custom: type.custom !== undefined, versions: new Map() };
      found.set(type.group, group);
    }
    const types = group.versions.get(type.version);
    if (types) types.push(type);
    else group.versions.set(type.version, [type]);
  }
  const entries = [...found];
  const builtin = entries.filter(([, { custom }]) => !custom);
  const custom = entries.filter((entry) => entry[1].custom).sort(([one], [other]) => (one < other ? -1 : 1));
  return [...builtin, ...custom].map(([group, { versions }]) => ({
    group,
    versions: [...versions]
      .sort(([one], [other]) => compareVersions(one, other))
      .map(([version, types]) => ({
        version,
        types: types.some((type) => type.custom)
          ? [...types].sort((one, other) => (one.plural < other.plural ? -1 : 1))
          : types,
      })),
  }));
}

export const groupVersion = (group: string, version: string): string => (group ? `${group}/${version}` : version);
