import { maskedText } from './masked-text.ts';
import { Secret } from './secret.ts';
import { isSensitiveName, namesSecret } from './sensitive-names.ts';

/** How much of one value is printed. What goes beyond is cut and says so. */
export const printLimits = {
  depth: 8,
  entriesPerObject: 100,
  values: 2000,
  charactersPerKey: 256,
  charactersPerText: 16_384,
  characters: 131_072,
} as const;

const redacted = '[redacted]';

interface Walk {
  values: number;
  characters: number;
  /** The objects between the root and here, to see a cycle. */
  readonly above: object[];
}

/**
 * A copy of any value that is safe to print as JSON: plain data only, bounded in depth and size, without cycles, with
 * {@link Secret} instances, values under sensitive names and secrets inside texts replaced. Never throws, whatever getters, proxies or
 * `toJSON` do.
 */
export function printable(value: unknown): unknown {
  return copy(value, { values: printLimits.values, characters: printLimits.characters, above: [] });
}

function copy(value: unknown, walk: Walk): unknown {
  walk.values--;
  if (walk.values < 0) return '[cut: too many values]';
  switch (typeof value) {
    case 'string':
      return text(value, walk);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
    case 'undefined':
      return value;
    case 'bigint':
      return text(value.toString(), walk);
    case 'symbol':
      return text(value.toString(), walk);
    case 'function':
      return '[function]';
    case 'object':
      return value === null ? null : copyWithin(value, walk);
  }
}

function copyWithin(value: object, walk: Walk): unknown {
  if (value instanceof Secret) return redacted;
  if (walk.above.includes(value)) return '[circular]';
  if (walk.above.length >= printLimits.depth) return '[cut: too deep]';
  walk.above.push(value);
  try {
    return copyObject(value, walk);
  } catch (error) {
    return text(`[unreadable: ${reason(error)}]`, walk);
  } finally {
    walk.above.pop();
  }
}

function copyObject(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return copyArray(value, walk);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return copyEntries(value, walk);
  if (value instanceof Error) return copyError(value, walk);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof URL) return text(withoutCredentials(value), walk);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return copyPairs(value, value.size, walk);
  if (value instanceof Set) return copyArray([...firstOf(value)], walk, value.size);
  if (value instanceof Headers) return copyPairs(value, undefined, walk);
  if (value instanceof RegExp) return text(String(value), walk);
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return `[${kindOf(value)}]`;
  const summary = httpSummary(value);
  if (summary) return copyEntries(summary, walk);
  const toJson: unknown = Reflect.get(value, 'toJSON');
  if (typeof toJson === 'function') {
    const json: unknown = toJson.call(value);
    return json === value ? copyEntries(value, walk) : copy(json, walk);
  }
  return copyEntries(value, walk);
}

function spent(walk: Walk): boolean {
  return walk.values <= 0 || walk.characters <= 0;
}

function copyArray(items: readonly unknown[], walk: Walk, size = items.length): unknown[] {
  const count = Math.min(items.length, printLimits.entriesPerObject);
  const out: unknown[] = [];
  for (let i = 0; i < count && !spent(walk); i++) {
    out.push(followsSensitiveName(items, i) ? hide(read(items, i)) : copy(read(items, i), walk));
  }
  if (out.length < size) out.push(`[cut: ${size - out.length} more]`);
  return out;
}

/** Names and values in turn, as in a pair or in Node's raw headers: the name is followed by what it names. */
function followsSensitiveName(items: readonly unknown[], index: number): boolean {
  if (index % 2 === 0 || items.length % 2 !== 0) return false;
  const name = read(items, index - 1);
  return typeof name === 'string' && name.length <= printLimits.charactersPerKey && namesSecret(name);
}

/** `{ name, value }` and `{ key, value }`: environment variables, headers, labels. */
const naming = ['name', 'key'] as const;
const named: ReadonlySet<string> = new Set(['value', 'values']);

function namesItsValue(value: object): boolean {
  if (!('value' in value) && !('values' in value)) return false;
  return naming.some((label) => {
    const name = read(value, label);
    return typeof name === 'string' && namesSecret(name);
  });
}

/** What a Kubernetes Secret, or a list of them, holds them under. */
const holders: Readonly<Record<string, string>> = { Secret: 'data', SecretList: 'items' };

function copyEntries(value: object, walk: Walk, out: Record<string, unknown> = {}): Record<string, unknown> {
  let count = 0;
  const hidesValue = namesItsValue(value);
  const kind = read(value, 'kind');
  const holder = kind === 'Secret' || kind === 'SecretList' ? holders[kind] : undefined;
  for (const key of Object.keys(value)) {
    if (count >= printLimits.entriesPerObject || spent(walk)) {
      set(out, '[cut]', `${Object.keys(value).length - count} more`);
      break;
    }
    count++;
    const hidden = isSensitiveName(key) || (hidesValue && named.has(key)) || key === holder;
    const given = hidden ? hide(read(value, key)) : copy(read(value, key), walk);
    if (given !== undefined) set(out, keyText(key, walk), given);
  }
  return out;
}

function copyPairs(pairs: Iterable<readonly [unknown, unknown]>, size: number | undefined, walk: Walk): unknown {
  const out: Record<string, unknown> = {};
  let count = 0;
  for (const [key, value] of pairs) {
    if (count >= printLimits.entriesPerObject || spent(walk)) {
      set(out, '[cut]', size === undefined ? 'more' : `${size - count} more`);
      break;
    }
    count++;
    const name = typeof key === 'string' ? key : String(copy(key, walk));
    set(out, keyText(name, walk), isSensitiveName(name) ? hide(value) : copy(value, walk));
  }
  return out;
}

/** Errors keep what is not enumerable on them: type, message, stack, causes. */
function copyError(error: Error, walk: Walk): Record<string, unknown> {
  // No prototype, so that a reader that asks for the constructor's name finds the error's own name instead of "Object".
  const out: Record<string, unknown> = Object.create(null);
  out.type = copy(read(error, 'name'), walk);
  out.message = copy(read(error, 'message'), walk);
  out.stack = copy(read(error, 'stack'), walk);
  for (const key of ['cause', 'errors'] as const) {
    const inner = read(error, key);
    if (inner !== undefined) out[key] = copy(inner, walk);
  }
  const own: Record<string, unknown> = {};
  for (const key of Object.keys(error)) if (!Object.hasOwn(out, key)) set(own, key, read(error, key));
  return copyEntries(own, walk, out);
}

/** Node's and fastify's requests and responses hold sockets and servers; what an event needs of them is short. */
function httpSummary(value: object): object | undefined {
  const method = read(value, 'method');
  const url = read(value, 'url');
  if (typeof method === 'string' && typeof url === 'string' && typeof read(value, 'headers') === 'object') {
    const socket = read(value, 'socket');
    const ip = read(value, 'ip') ?? (typeof socket === 'object' && socket ? read(socket, 'remoteAddress') : undefined);
    return { method, url, host: read(value, 'host'), ip };
  }
  const statusCode = read(value, 'statusCode');
  const isResponse = typeof read(value, 'setHeader') === 'function' || typeof read(value, 'getHeaders') === 'function';
  return typeof statusCode === 'number' && isResponse ? { statusCode } : undefined;
}

/** Read beyond the cut, so that a secret that stands across it is still seen for one. */
const beyondCut = 1024;

function text(value: string, walk: Walk): string {
  const room = Math.min(printLimits.charactersPerText, Math.max(walk.characters, 0));
  walk.characters -= Math.min(value.length, room);
  if (value.length <= room) return maskedText(value);
  return `${maskedText(value.slice(0, room + beyondCut)).slice(0, room)}[cut: ${value.length - room} more characters]`;
}

function keyText(key: string, walk: Walk): string {
  walk.characters -= key.length;
  return key.length <= printLimits.charactersPerKey ? key : `${key.slice(0, printLimits.charactersPerKey)}[cut]`;
}

/** Absent stays absent, and yes stays yes: an event that says whether there was a token helps, and gives nothing away. */
function hide(value: unknown): unknown {
  return value === undefined || value === null || typeof value === 'boolean' ? value : redacted;
}

function read(value: object, key: string | number): unknown {
  try {
    return Reflect.get(value, key);
  } catch (error) {
    return `[unreadable: ${reason(error)}]`;
  }
}

function reason(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : typeof error;
  } catch {
    return 'unknown';
  }
}

/** A key named `__proto__` is data here, not the prototype. */
function set(out: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(out, key, { value, enumerable: true, configurable: true });
  else out[key] = value;
}

function* firstOf(items: Iterable<unknown>): Generator<unknown> {
  let count = 0;
  for (const item of items) {
    if (count++ >= printLimits.entriesPerObject) return;
    yield item;
  }
}

/** Neither user nor query nor fragment: signatures and tokens stand there. */
function withoutCredentials(url: URL): string {
  if (url.username === '' && url.password === '' && url.search === '' && url.hash === '') return url.href;
  const copied = new URL(url.href);
  copied.username = '';
  copied.password = '';
  copied.search = '';
  copied.hash = '';
  return url.search === '' ? copied.href : `${copied.href}?${redacted}`;
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
