// Sealed paths: what stands there is AES-256-GCM text in the database and Secret<string> in a body.
import { type KeyRing, SealError } from '../kit/key-ring.ts';
import { Secret } from '../kit/secret.ts';
import { StoreError } from './errors.ts';
import type { Path } from './filter.ts';
import { typeName } from './keys.ts';
import { isObject } from './paths.ts';
import type { Key } from './store.ts';

export interface Sealing {
  /** The body with sealed text at the sealed paths; copies only what it changes. */
  seal(key: Key, body: unknown): unknown;
  /** Puts a Secret in the place of every sealed text of a freshly parsed body. Throws Seal. */
  open(key: Key, body: unknown): void;
  /** Seals again what another key than the current one sealed, in place. Answers how many values. Throws Seal. */
  reseal(key: Key, body: unknown): number;
}

/**
 * Where a value stands, as its seal binds it: member names, and null for "an element of this array", so that an element
 * may move within its array but nothing may move between members, documents, partitions or containers.
 */
type Place = readonly (string | null)[];

type Visit = (value: unknown, place: Place) => unknown;

export function sealing(container: string, paths: readonly Path[], ring: KeyRing): Sealing {
  const contextOf = (key: Key, place: Place): string => JSON.stringify([container, key.partition, key.id, ...place]);

  const openText = (key: Key, text: unknown, place: Place): string => {
    const where = () => `container ${container}, document ${key.partition}/${key.id}, ${placeName(place)}`;
    if (typeof text !== 'string')
      throw new StoreError('Seal', `${where()}: ${typeName(text)} stands where a sealed value should`);
    try {
      return ring.open(text, contextOf(key, place));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      throw new StoreError('Seal', `${where()}: key ${ring.keyOf(text) ?? 'unknown'}: ${error.message}`, {
        cause: error,
      });
    }
  };

  const each = (body: unknown, visit: Visit): unknown => {
    let result = body;
    for (const path of paths) result = replaceAt(result, path, [], visit);
    return result;
  };
  const eachInPlace = (body: unknown, visit: Visit): void => {
    for (const path of paths) setAt(body, path, [], visit);
  };

  return {
    seal: (key, body) =>
      each(body, (value, place) => ring.seal(plainText(container, value, place), contextOf(key, place))),
    open: (key, body) => eachInPlace(body, (value, place) => new Secret(openText(key, value, place))),
    reseal(key, body) {
      let count = 0;
      eachInPlace(body, (value, place) => {
        if (typeof value === 'string' && ring.keyOf(value) === ring.current) return value;
        const again = ring.seal(openText(key, value, place), contextOf(key, place));
        count++;
        return again;
      });
      return count;
    },
  };
}

/** True when a path is a sealed one or leads into one. */
export function reachesSealed(sealed: readonly Path[], path: Path): boolean {
  return sealed.some(
    (pattern) =>
      pattern.length <= path.length && pattern.every((segment, at) => segment === '*' || segment === path[at]),
  );
}

/** True when one value could be at both sealed paths, or one inside the other: it would be sealed twice. */
export function overlap(one: Path, other: Path): boolean {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) if (one[at] !== other[at] && one[at] !== '*' && other[at] !== '*') return false;
  return true;
}

/** True when a containment operand, placed at a path, asks about a sealed path. */
export function operandReachesSealed(sealed: readonly Path[], path: Path, operand: unknown): boolean {
  return sealed.some((pattern) => {
    const shared = Math.min(pattern.length, path.length);
    for (let at = 0; at < shared; at++) if (pattern[at] !== '*' && pattern[at] !== path[at]) return false;
    return holds(operand, pattern.slice(shared));
  });
}

function holds(operand: unknown, pattern: Path): boolean {
  const [segment, ...rest] = pattern;
  if (segment === undefined) return true;
  if (Array.isArray(operand)) return segment === '*' && operand.some((element) => holds(element, rest));
  if (!isObject(operand)) return false;
  if (segment === '*') return Object.values(operand).some((value) => holds(value, rest));
  return Object.hasOwn(operand, segment) && holds(operand[segment], rest);
}

function plainText(container: string, value: unknown, place: Place): string {
  const plain: unknown = value instanceof Secret ? value.reveal() : value;
  if (typeof plain === 'string' && plain.isWellFormed()) return plain;
  throw new StoreError(
    'Invalid',
    typeof plain === 'string'
      ? `container ${container}: ${placeName(place)} has a broken surrogate pair in it, which cannot be sealed`
      : `container ${container}: ${placeName(place)} is sealed, so it must be a Secret or a string, not ${typeName(plain)}`,
  );
}

function replaceAt(node: unknown, path: Path, place: Place, visit: Visit): unknown {
  const [segment, ...rest] = path;
  if (segment === undefined) return node === undefined || node === null ? node : visit(node, place);
  if (Array.isArray(node)) {
    if (segment !== '*') return node;
    const replaced = node.map((element: unknown) => replaceAt(element, rest, [...place, null], visit));
    return replaced.some((element, at) => element !== node[at]) ? replaced : node;
  }
  if (!isObject(node) || node instanceof Secret) return node;
  let result = node;
  for (const name of segment === '*' ? Object.keys(node) : [segment]) {
    if (!Object.hasOwn(node, name)) continue;
    const replaced = replaceAt(node[name], rest, [...place, name], visit);
    if (replaced === node[name]) continue;
    if (result === node) result = { ...node };
    result[name] = replaced;
  }
  return result;
}

function setAt(node: unknown, path: Path, place: Place, visit: Visit): void {
  const [segment, ...rest] = path;
  if (segment === undefined) return;
  if (Array.isArray(node)) {
    if (segment !== '*') return;
    node.forEach((element: unknown, at) => {
      if (rest.length > 0) setAt(element, rest, [...place, null], visit);
      else if (element !== null) node[at] = visit(element, [...place, null]);
    });
    return;
  }
  if (!isObject(node) || node instanceof Secret) return;
  for (const name of segment === '*' ? Object.keys(node) : [segment]) {
    if (!Object.hasOwn(node, name)) continue;
    const value = node[name];
    if (rest.length > 0) setAt(value, rest, [...place, name], visit);
    else if (value !== null) node[name] = visit(value, [...place, name]);
  }
}

function placeName(place: Place): string {
  return `path ${place.map((segment) => segment ?? '*').join('.')}`;
}
