// Parts that the columns of many types have in common.
import type { KubeObject } from '../object.ts';
import type { LabelSelector } from '../types/pod/pod-spec.ts';
import type { Column } from '../types/resource-type.ts';
import { since } from './age.ts';

type Cell = Column['cell'];

export const column = (name: string, cell: Cell, more: Partial<Omit<Column, 'name' | 'cell'>> = {}): Column => ({
  name,
  type: 'string',
  priority: 0,
  ...more,
  cell,
});

/** A column shown with -o wide. */
export const wide = (name: string, cell: Cell, more: Partial<Omit<Column, 'name' | 'cell'>> = {}): Column =>
  column(name, cell, { ...more, priority: 1 });

export const whole = (name: string, cell: Cell): Column => column(name, cell, { type: 'integer' });
export const flag = (name: string, cell: Cell): Column => column(name, cell, { type: 'boolean' });

export const nameColumn: Column = column('Name', ({ metadata }) => metadata.name ?? '', { format: 'name' });
export const ageColumn: Column = column('Age', ({ metadata }, now) => since(metadata.creationTimestamp, now));

/** For types that have no columns of their own. */
export const plainColumns: readonly Column[] = [
  nameColumn,
  column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null, { type: 'date' }),
];

/** Spec and status, of whatever shape the columns expect. */
export const specOf = <Spec extends object>(object: KubeObject): Partial<Spec> => (object.spec ?? {}) as Partial<Spec>;
export const statusOf = <Status extends object>(object: KubeObject): Partial<Status> =>
  (object.status ?? {}) as Partial<Status>;

export const none = '<none>';
export const unset = '<unset>';

/** `a=b,c=d`, in order of keys. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const text = Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');
  return text || none;
}

/** A selector as it is written in a query. */
export function selectorText(selector: LabelSelector | null | undefined, empty = none): string {
  if (!selector) return empty;
  const parts = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const list = `(${[...values].sort().join(',')})`;
    const texts: Readonly<Record<string, string>> = {
      In: `${key} in ${list}`,
      NotIn: `${key} notin ${list}`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    parts.push({ key, text: texts[operator] ?? key });
  }
  return (
    parts
      .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
      .map(({ text }) => text)
      .join(',') || empty
  );
}

interface Named {
  name: string;
  image?: string;
}

/** Names and images of containers, shown with -o wide. */
export const containerColumns = (containers: (object: KubeObject) => readonly Named[] | null | undefined): Column[] => [
  wide('Containers', (object) => (containers(object) ?? []).map(({ name }) => name).join(',')),
  wide('Images', (object) => (containers(object) ?? []).map(({ image = '' }) => image).join(',')),
];

/** At most three of a list, and how many more there are. */
export function firstThree(items: readonly string[], empty: string, count = items.length): string {
  if (items.length === 0) return empty;
  const shown = items.slice(0, 3).join(',');
  return count > 3 ? `${shown} + ${count - 3} more...` : shown;
}
