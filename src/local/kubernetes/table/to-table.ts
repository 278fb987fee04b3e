// Tables, as kubectl asks for them to print.
import type { KubeObject } from '../object.ts';
import { metadataAlone } from '../types/metadata-alone.ts';
import type { Column, ResourceType } from '../types/resource-type.ts';
import { ageColumn, nameColumn, specOf, statusOf, whole } from './columns.ts';
import { podRowConditions } from './pod-columns.ts';

export interface TableOptions {
  /** What rows carry of their objects. */
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  readonly version: 'v1' | 'v1beta1';
  /** The list's metadata, or the object's resourceVersion. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Whether the table says what its columns are. */
  readonly columns: boolean;
  /** Epoch milliseconds, from which ages count. */
  readonly now: number;
}

function carried(object: KubeObject, { includeObject, version }: TableOptions): object | null {
  switch (includeObject) {
    case 'None':
      return null;
    case 'Object':
      return object;
    case 'Metadata':
      return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: metadataAlone(object) };
  }
}

/** A scale stands at an address of the object that it is of. */
const scaleColumns: readonly Column[] = [
  nameColumn,
  whole('Desired', (object) => specOf<{ replicas: number }>(object).replicas ?? 0),
  whole('Available', (object) => statusOf<{ replicas: number }>(object).replicas ?? 0),
  ageColumn,
];

/** The meta.k8s.io Table of some objects of one type. */
export function toTable(type: ResourceType, objects: readonly KubeObject[], options: TableOptions): object {
  const columns = objects.some(({ kind }) => kind === 'Scale' && kind !== type.kind) ? scaleColumns : type.columns;
  const isPod = type.group === '' && type.plural === 'pods';
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.metadata,
    columnDefinitions: options.columns
      ? columns.map(({ name, type: kind, format = '', description = '', priority }) => ({
          name,
          type: kind,
          format,
          description,
          priority,
        }))
      : null,
    rows: objects.map((object) => {
      const conditions = isPod ? podRowConditions(object) : undefined;
      return {
        cells: columns.map(({ cell }) => cell(object, options.now)),
        ...(conditions ? { conditions } : {}),
        object: carried(object, options),
      };
    }),
  };
}
