// A document written by a newer version of the code has members that this version does not know. Code that reads a body,
// makes a new one of the members it knows and writes it back would drop them; here they are put back.
import { isObject } from './paths.ts';
import type { Shape } from './schema-shape.ts';

/** What names an element of an array, in this order of preference. */
const identities = ['id', 'key', 'name', 'resourceId'];

/**
 * The new value with the members of the stored one that the shape does not know and the new one lacks. Elements of arrays
 * are the same when they have the same identity, or the same place in arrays of one length. Copies only what it changes.
 */
export function carryUnknown(shape: Shape, stored: unknown, next: unknown): unknown {
  if (Array.isArray(stored) && Array.isArray(next)) return carryElements(shape, stored, next);
  if (isObject(stored) && isObject(next) && typeof next.toJSON !== 'function') return carryMembers(shape, stored, next);
  return next;
}

function carryMembers(shape: Shape, stored: Record<string, unknown>, next: Record<string, unknown>): unknown {
  let result = next;
  for (const name of Object.keys(stored)) {
    const inside = shape.member(name);
    const given = Object.hasOwn(next, name) ? next[name] : undefined;
    let value = given;
    if (given === undefined) {
      if (inside === undefined) value = stored[name];
    } else if (inside !== undefined) {
      value = carryUnknown(inside, stored[name], given);
    }
    if (value === given) continue;
    if (result === next) result = { ...next };
    Object.defineProperty(result, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return result;
}

function carryElements(shape: Shape, stored: readonly unknown[], next: readonly unknown[]): unknown {
  const earlier = matcher(stored, next);
  if (!earlier) return next;
  let result: unknown[] | undefined;
  next.forEach((element, index) => {
    const inside = shape.element(index);
    const carried = inside ? carryUnknown(inside, earlier(element, index), element) : element;
    if (carried === element) return;
    result ??= [...next];
    result[index] = carried;
  });
  return result ?? next;
}

function matcher(
  stored: readonly unknown[],
  next: readonly unknown[],
): ((element: unknown, index: number) => unknown) | undefined {
  if (!stored.every(isObject) || !next.every(isObject)) return undefined;
  for (const identity of identities) {
    const byIdentity = new Map(stored.map((element) => [element[identity], element]));
    const named = [...stored, ...next].every((element) => typeof element[identity] === 'string');
    const distinct = byIdentity.size === stored.length;
    if (named && distinct) return (element) => (isObject(element) ? byIdentity.get(element[identity]) : undefined);
  }
  return stored.length === next.length ? (_, index) => stored[index] : undefined;
}
