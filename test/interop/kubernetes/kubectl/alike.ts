// Takes out of what kubectl prints what no two servers, runs or versions of kubectl have in common.
import type { Form } from './case.ts';

/** Letters of generated names and hashes. */
const letter = '[bcdfghjklmnpqrstvwxz2456789]';

const replacements: readonly (readonly [RegExp, string])[] = [
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '<folder>/$1'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000( UTC)?/g, '<time>'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>'],
  [/[\w-]{20,}\.[\w-]{100,}\.[\w-]{40,}/g, '<token>'],
  [/(resource ?version\\*"?:\s*\\*"?)\d+/gi, '$1<version>'],
  [/(Expected resource version to be \d+, was) \d+/g, '$1 <version>'],
  // Who writes is named for the program.
  [/\bkubectl\.1\.\d+\b/g, 'kubectl'],
  [/https:\/\/127\.0\.0\.1:\d+/g, '<server>'],
  [/127\.0\.0\.1:\d+/g, '<server>'],
  [/\b10\.\d+\.\d+\.\d+\b/g, '<address>'],
  [/(kube-api-access-)[a-z0-9]{5}/g, '$1<random>'],
  [new RegExp(`-${letter}{8,10}-${letter}{5}\\b`, 'g'), '-<hash>-<random>'],
  [new RegExp(`([-=:] ?)${letter}{8,10}\\b`, 'g'), '$1<hash>'],
  [new RegExp(`-${letter}{5}\\b`, 'g'), '-<random>'],
  [/v\d+\.\d+\.\d+\S*/g, '<release>'],
  // What some versions of kubectl say in their own words.
  [/^ *creationTimestamp: null\n/gm, ''],
  [/(\d\/(?:TCP|UDP)) \([a-z0-9-]+\)/g, '$1'],
  [/ConfigMapOptional:( +)<nil>/g, 'Optional:$1false'],
  // Client and server of the same age do not mention it.
  [/^WARNING: version difference between client .*\n/gm, ''],
  [/^[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\] /gm, '<log> '],
  // Newer clients name the namespace.
  [/ deleted from \S+ namespace/g, ' deleted'],
];

const age = /^(\d+[smhdy]){1,2}( ago)?( \(x\d+ over (\d+[smhdy]){1,2}\))?$|^<(invalid|unknown)>$/;

/** JSON says the same in any order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, inOrder(inner)] as const);
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** An object that stands on a line of its own. */
function ordered(text: string): string {
  if (!text.startsWith('{"')) return text;
  try {
    return JSON.stringify(inOrder(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** A line of a table or a description: columns are as wide as what they hold. */
const line = (text: string): string =>
  ordered(text)
    .trimEnd()
    .split(/ {2,}|\t+/)
    .map((cell) => (age.test(cell) ? '<age>' : cell))
    .join('  ');

/** Whether a line of an explanation names a field, a kind or a value that may be. */
const isOutline = (text: string): boolean => /\t<|^[A-Z]+:|^ *enum: |^error/.test(text);

const forms: Readonly<Record<Form, (lines: readonly string[]) => readonly string[]>> = {
  outline: (lines) => lines.filter((text) => isOutline(text) && !text.startsWith('DESCRIPTION')),
  sorted: (lines) => lines.toSorted(),
};

/** The lines that a command printed, as they would be of any server. `folder` is where it ran. */
export function alike(printed: string, folder: string, form?: Form): readonly string[] {
  let text = printed.replaceAll(folder, '<folder>');
  for (const [pattern, replacement] of replacements) text = text.replace(pattern, replacement);
  const lines = text.replace(/\n$/, '').split('\n');
  return (form ? forms[form](lines) : lines).map(line);
}
