// JSON Patch (RFC 6902) as the server carries it out, which is more lenient than the RFC in places: `replace` of a member that
// is not there adds it, `copy` of one copies null, indexes may be negative (from the end), a missing `value` is null.
import type { JsonObject, JsonValue } from '../object.ts';
import { depthOf, refuseDeep } from '../schema/depth.ts';
import { badRequest, tooLarge } from '../status.ts';
import { cloneJson, equalJson, getMember, isObject, setMember } from './json-tree.ts';
import { goJsonKind, unprocessable } from './refused-patch.ts';

const maxOperations = 10_000;
const maxCopiedBytes = 3 * 1024 * 1024;

interface Operation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  readonly value: JsonValue;
}

/** Where a pointer leads: the container that has, or shall have, the member or item `key`. */
interface Place {
  readonly container: JsonObject | JsonValue[];
  readonly key: string;
}

/** The target with the patch carried out; the target itself is not changed. `body` is the parsed patch document. */
export function applyJsonPatch(target: JsonObject, body: unknown): JsonValue {
  const operations = decode(body);
  let document = cloneJson(target);
  let copiedBytes = 0;
  for (const { op, path, from, value } of operations) {
    if (path === undefined) throw unprocessable();
    switch (op) {
      case 'add':
        refuseDeep(depthAt(path, value));
        add(find(document, path), cloneJson(value));
        break;
      case 'remove':
        remove(find(document, path));
        break;
      case 'replace':
        if (path === '') {
          // What is no container does not take the document's place, and is not refused either.
          if (typeof value === 'object' && value !== null) document = cloneJson(value);
        } else {
          refuseDeep(depthAt(path, value));
          replace(find(document, path), cloneJson(value));
        }
        break;
      case 'move': {
        const place = find(document, from);
        const moved = get(place);
        remove(place);
        refuseDeep(depthAt(path, moved));
        add(find(document, path), moved ?? null);
        break;
      }
      case 'copy': {
        const copied = get(find(document, from)) ?? null;
        refuseDeep(depthAt(path, copied));
        copiedBytes += JSON.stringify(copied).length;
        if (copiedBytes > maxCopiedBytes) throw unprocessable();
        add(find(document, path), cloneJson(copied));
        break;
      }
      case 'test':
        if (!equalJson((path === '' ? document : get(find(document, path))) ?? null, value)) throw unprocessable();
        break;
      default:
        throw unprocessable();
    }
  }
  return document;
}

function decode(body: unknown): Operation[] {
  if (body === null) return [];
  const wrong = (value: unknown, place: string): Error =>
    badRequest(`error decoding patch: json: cannot unmarshal ${goJsonKind(value)} into Go ${place}`);
  if (!Array.isArray(body)) throw wrong(body, 'value of type []handlers.jsonPatchOp');
  const text = (operation: JsonObject, member: string): string | undefined => {
    const value = getMember(operation, member) ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw wrong(value, `struct field jsonPatchOp.${member} of type string`);
  };
  const operations = body.map((operation: unknown): Operation => {
    if (!isObject(operation)) {
      if (operation !== null) throw wrong(operation, 'value of type handlers.jsonPatchOp');
      return { op: '', path: undefined, from: undefined, value: null };
    }
    return {
      op: text(operation, 'op') ?? '',
      path: text(operation, 'path'),
      from: text(operation, 'from'),
      value: getMember(operation, 'value') ?? null,
    };
  });
  if (operations.length > maxOperations) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    );
  }
  return operations;
}

const parts = new Set(['op', 'path', 'from', 'value']);

/** Such as `unknown field "[0].colour"`: parts of operations that are none. */
export function unknownParts(body: unknown): string[] {
  if (!Array.isArray(body)) return [];
  return body.flatMap((operation: unknown, index) => {
    const names = isObject(operation) ? Object.keys(operation) : [];
    return names.filter((name) => !parts.has(name)).map((name) => `unknown field "[${index}].${name}"`);
  });
}

/** How deep a document is where a pointer leads to this value. */
const depthAt = (pointer: string, value: unknown): number => pointer.split('/').length - 1 + depthOf(value);

const unescaped = (part: string): string => part.replace(/~[01]/g, (code) => (code === '~1' ? '/' : '~'));

function find(document: JsonValue, pointer: string | undefined): Place {
  const [, ...parts] = (pointer ?? '').split('/').map(unescaped);
  const key = parts.pop();
  if (key === undefined) throw unprocessable();
  let container = document;
  for (const part of parts) {
    if (typeof container !== 'object' || container === null) throw unprocessable();
    container = get({ container, key: part }) ?? null;
  }
  if (typeof container !== 'object' || container === null) throw unprocessable();
  return { container, key };
}

/** The index a key means in an array of this length; a negative one counts from the end. */
function indexOf(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw unprocessable();
  const index = Number(key);
  const place = index < 0 ? index + length : index;
  if (place < 0 || place >= length) throw unprocessable();
  return place;
}

function get({ container, key }: Place): JsonValue | undefined {
  return Array.isArray(container) ? container[indexOf(key, container.length)] : getMember(container, key);
}

function add({ container, key }: Place, value: JsonValue): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexOf(key, container.length + 1), 0, value);
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) container.splice(indexOf(key, container.length), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw unprocessable();
}

function replace({ container, key }: Place, value: JsonValue): void {
  if (Array.isArray(container)) container[indexOf(key, container.length)] = value;
  else setMember(container, key, value);
}
