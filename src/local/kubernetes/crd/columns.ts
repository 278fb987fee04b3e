// The columns that kubectl shows of custom resources.
import type { KubeObject } from '../object.ts';
import { humanDuration } from '../table/age.ts';
import type { Column } from '../types/resource-type.ts';
import type { PrinterColumn } from './definition.ts';
import { JsonPathError, jsonPath } from './json-path.ts';

/** A value as text, in the manner of the server's templates. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function cellOf(type: string, value: unknown, now: number): string | number | boolean | null {
  switch (type) {
    case 'string':
      return value === null ? null : textOf(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      if (typeof value !== 'string') return null;
      const time = Date.parse(value);
      return Number.isNaN(time) ? '<invalid>' : humanDuration(now - time);
    }
    default:
      return null;
  }
}

function column({ name, type, format, description, priority = 0, jsonPath: path }: PrinterColumn): Column {
  const find = readPath(path);
  return {
    name,
    type: type as Column['type'],
    ...(format ? { format } : {}),
    description: description || `Custom resource definition column (in JSONPath format): ${path}`,
    priority,
    cell(object: KubeObject, now: number) {
      const [value] = find(object);
      return value === undefined ? null : cellOf(type, value, now);
    },
  };
}

/** A path that cannot be read finds nothing, as on the server. */
function readPath(path: string): (object: unknown) => unknown[] {
  try {
    return jsonPath(path);
  } catch (error) {
    if (error instanceof JsonPathError) return () => [];
    throw error;
  }
}

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  cell: ({ metadata }) => metadata.name ?? '',
};

const age: Column = {
  name: 'Age',
  type: 'date',
  priority: 0,
  cell: ({ metadata }, now) => cellOf('date', metadata.creationTimestamp, now),
};

/** The name, then the columns that the definition asks for; the age where it asks for none. */
export const columnsOf = (printed: readonly PrinterColumn[] | undefined): Column[] => [
  nameColumn,
  ...(printed && printed.length > 0 ? printed.map(column) : [age]),
];
