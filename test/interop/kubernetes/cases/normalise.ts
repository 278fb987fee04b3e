// Takes out of an answer what no two servers have in common: ids, times, versions, ports and names made at random.
import type { Json, JsonMap } from './case.ts';

const byKey: ReadonlyMap<string, string> = new Map([
  ['uid', '<uid>'],
  ['resourceVersion', '<version>'],
  ['continue', '<continue>'],
  ['creationTimestamp', '<time>'],
  ['deletionTimestamp', '<time>'],
  ['time', '<time>'],
  ['lastTransitionTime', '<time>'],
  ['expirationTimestamp', '<time>'],
  ['clusterIP', '<address>'],
  ['nodePort', '<port>'],
  ['serverAddress', '<server>'],
  ['token', '<token>'],
]);

/** Values of the keys above that say something. */
const telling: ReadonlySet<Json> = new Set(['', '0', 'None', null]);

/** A hash of the server's own, that says nothing to clients; and prose about columns and fields, which we do not repeat. */
const dropped: ReadonlySet<string> = new Set(['storageVersionHash', 'description']);

/** Lists that come in any order. */
const unordered: ReadonlySet<string> = new Set(['resourceRules', 'nonResourceRules', 'nonResourceURLs']);

const sorted = (list: readonly Json[]): Json =>
  list.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

const inText: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/(resource version: \d+) \(\d+\)/g, '$1 (<version>)'],
  [/(resource version: \d+), current: \d+/g, '$1, current: <version>'],
  [/(\\*"resourceVersion\\*":\\*")\d+/g, '$1<version>'],
  [/(ResourceVersion in record) \(\d+\)/g, '$1 (<version>)'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-<random>'],
  [/127\.0\.0\.1:\d+/g, '<server>'],
  [/10\.\d+\.\d+\.\d+(?!\d)/g, '<address>'],
];

const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names made of a prefix and something random, with what stands for them. */
function generatedNames(value: Json, found: Map<string, string>): void {
  if (Array.isArray(value)) for (const item of value) generatedNames(item, found);
  else if (isMap(value)) {
    const { generateName, name } = value;
    if (typeof generateName === 'string' && typeof name === 'string' && name.startsWith(generateName)) {
      found.set(name, `${generateName}<random>`);
    }
    for (const inner of Object.values(value)) generatedNames(inner, found);
  }
}

/** The answer as any server would have given it. Keys come in order of the alphabet. */
export function normalise(value: Json): Json {
  const names = new Map<string, string>();
  generatedNames(value, names);
  const text = (given: string): string => {
    let result = given;
    for (const [pattern, replacement] of inText) result = result.replace(pattern, replacement);
    for (const [name, replacement] of names) result = result.replaceAll(name, replacement);
    return result;
  };
  const cell = (given: Json): Json => (typeof given === 'string' && /^\d+s$/.test(given) ? '<age>' : walk(given));
  const walk = (given: Json): Json => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(walk);
    if (!isMap(given)) return given;
    const entries = Object.entries(given).filter(([key]) => !dropped.has(key));
    return Object.fromEntries(
      entries
        .map(([key, inner]): [string, Json] => {
          const known = byKey.get(key);
          if (known && (typeof inner === 'string' || typeof inner === 'number') && !telling.has(inner))
            return [key, known];
          if (key === 'clusterIPs' && Array.isArray(inner)) return [key, inner.map(() => '<address>')];
          if (key === 'cells' && Array.isArray(inner)) return [key, inner.map(cell)];
          if (unordered.has(key) && Array.isArray(inner)) return [key, sorted(inner.map(walk))];
          return [key, walk(inner)];
        })
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  };
  return walk(value);
}
