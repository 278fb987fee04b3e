// What patches and field tracking need of plain JSON: telling, comparing, copying and setting.
import type { JsonObject, JsonValue } from '../object.ts';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Sets a member, also one named `__proto__`, which a plain assignment would take for the prototype. */
export function setMember(object: JsonObject, member: string, value: JsonValue): void {
  if (member === '__proto__') {
    Object.defineProperty(object, member, { value, writable: true, enumerable: true, configurable: true });
  } else object[member] = value;
}

/** The member an object itself has; never one of its prototype. */
export function getMember(object: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined;
}

/** Same content; the order of members does not count. */
export function equalJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index += 1) if (!equalJson(a[index], b[index])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const members = Object.keys(a);
  if (members.length !== Object.keys(b).length) return false;
  for (const member of members) if (!Object.hasOwn(b, member) || !equalJson(a[member], b[member])) return false;
  return true;
}

export function cloneJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson);
  const copy: JsonObject = {};
  for (const member of Object.keys(value)) setMember(copy, member, cloneJson(value[member] as JsonValue));
  return copy;
}
