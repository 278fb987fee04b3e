// JSON merge patch (RFC 7386): members are set, null removes.
import type { JsonObject, JsonValue } from '../object.ts';
import { badRequest } from '../status.ts';
import { isObject, setMember } from './json-tree.ts';
import { goJsonKind } from './refused-patch.ts';

/** The target with the patch merged in; shares what did not change with the target, which itself is not changed. */
export function applyMergePatch(target: JsonObject, body: unknown): JsonObject {
  if (body === null) throw badRequest('Invalid JSON Patch');
  if (!isObject(body)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goJsonKind(body)} into Go value of type map[string]interface {}`,
    );
  }
  return merge(target, body);
}

function merge(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...target };
  for (const member of Object.keys(patch)) {
    const value = patch[member] as JsonValue;
    if (value === null) {
      delete result[member];
      continue;
    }
    const before = Object.hasOwn(result, member) ? result[member] : undefined;
    setMember(result, member, isObject(value) && isObject(before) ? merge(before, value) : withoutNulls(value));
  }
  return result;
}

/** A new value: nulls in it mean nothing and are left out; as items of an array they stay. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  return isObject(value) ? merge({}, value) : value;
}
