// How items of lists are known: by their keys in a list of type map, by their value in a set.

import type { JsonObject, JsonValue } from '../object.ts';
import { setMember } from '../patch/json-tree.ts';
import type { ListType } from './type-node.ts';

/** An item that cannot be known; the message is the server's. */
export class ItemError extends Error {}

/** The path element of a list's item. Throws ItemError. */
export function itemElement(list: ListType, item: JsonValue): string {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListType, item: JsonValue): string {
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  if (typeof item !== 'object' || Array.isArray(item)) {
    throw new ItemError('associative list with keys may not have non-map elements');
  }
  const found: JsonObject = {};
  let any = false;
  for (const key of list.keys) {
    const value = Object.hasOwn(item, key) ? item[key] : list.keyDefaults[key];
    if (value === undefined) continue;
    any = true;
    setMember(found, key, value);
  }
  if (!any) {
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${list.keys.map((key) => JSON.stringify(key)).join(' ')}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(found)}`;
}

function setElement(item: JsonValue): string {
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new ItemError("associative list without keys has an element that's a map type");
  return `v:${JSON.stringify(item)}`;
}
