// The columns that kubectl shows of custom resources.
import type { KubeObject } from '../object.ts';
import type { Column } from '../types/resource-type.ts';
import type { PrinterColumn } from './definition.ts';
import { JsonPathError, jsonPath } from './json-path.ts';

/** How long something has been there, as kubectl says it: `45s`, `5m10s`, `3h`, `2d5h`, `400d`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const both = (large: number, one: string, small: number, other: string): string =>
    small === 0 ? `${large}${one}` : `${large}${one}${small}${other}`;
  const minutes = Math.trunc(seconds / 60);
  const hours = Math.trunc(minutes / 60);
  const days = Math.trunc(hours / 24);
  const years = Math.trunc(days / 365);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (hours < 192) return both(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  if (years < 8) return both(years, 'y', days % 365, 'd');
  return `${years}y`;
}

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
    ...(description ? { description } : {}),
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

const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The name, then the columns that the definition asks for; the age where it asks for none. */
export const columnsOf = (printed: readonly PrinterColumn[] | undefined): Column[] => [
  nameColumn,
  ...(printed && printed.length > 0 ? printed : [age]).map(column),
];
