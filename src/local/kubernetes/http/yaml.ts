// YAML as Go's library reads it: YAML 1.1, times stay texts, the last of equal keys counts, and aliases may not blow up a text.
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type Scalar,
  type Tags,
  type YAMLMap,
} from 'yaml';
import type { JsonObject, JsonValue } from '../object.ts';
import { setMember } from '../patch/json-tree.ts';
import { goQuote } from '../schema/go-text.ts';
import type { ParsedJson } from '../schema/json-text.ts';
import { goYamlText } from './yaml-errors.ts';

/** The text is no YAML, or none that can be JSON; the message is what Go's library says. */
export class YamlTextError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'YamlTextError';
  }
}

const failed = (why: string): YamlTextError => new YamlTextError(`yaml: ${why}`);

/** Tags that the library gives a meaning which Go's does not: sets and lists of pairs are plain there, times are texts. */
const plainTags = new Set(['binary', 'omap', 'pairs', 'set', 'timestamp'].map((name) => `tag:yaml.org,2002:${name}`));

const controls = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

const goTags = (tags: Tags): Tags =>
  tags.filter(
    (tag) => typeof tag === 'string' || !(plainTags.has(tag.tag) || ('format' in tag && tag.format === 'TIME')),
  );

/** Reads a text. Takes time and memory in proportion to its length. Throws YamlTextError. */
export function parseYaml(text: string): Omit<ParsedJson, 'depth'> {
  if (controls.test(text)) throw failed('control characters are not allowed');
  try {
    const document = parseDocument(text, {
      version: '1.1',
      // The library compares each key with all others.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
      customTags: goTags,
    });
    const [first] = document.errors;
    if (first) throw failed(goYamlText(text, first.message, first.pos[0]));
    return readNodes(document, text);
  } catch (cause) {
    if (cause instanceof YamlTextError) throw cause;
    // The library recurses.
    if (cause instanceof RangeError) throw failed('exceeded max depth of 10000');
    throw failed(cause instanceof Error ? cause.message : String(cause));
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The number of the line, from 1, that a place is in. */
function lineAt(starts: readonly number[], place: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= place) low = middle;
    else high = middle;
  }
  return low + 1;
}

/** What each alias stands for: the last node before it with that anchor. The library looks through the document for each. */
function resolveAliases(document: Document.Parsed): Map<Node, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const waiting: unknown[] = [document.contents];
  for (let next = waiting.pop(); waiting.length > 0 || next !== undefined; next = waiting.pop()) {
    if (isPair(next)) waiting.push(next.value, next.key);
    else if (isAlias(next)) {
      const target = anchors.get(next.source);
      if (!target) throw failed(`unknown anchor '${next.source}' referenced`);
      targets.set(next, target);
    } else if (isScalar(next) || isMap(next) || isSeq(next)) {
      if (next.anchor) anchors.set(next.anchor, next);
      if (!isScalar(next))
        for (let index = next.items.length - 1; index >= 0; index -= 1) waiting.push(next.items[index]);
    }
  }
  return targets;
}

/** A text of so many nodes may consist of what aliases repeat, but for one in a hundred; a longer one only to a tenth. */
const aliasRange = { from: 400_000, to: 4_000_000, mostShare: 0.99, leastShare: 0.1 };

function aliasShare(nodes: number): number {
  const { from, to, mostShare, leastShare } = aliasRange;
  const along = Math.min(Math.max((nodes - from) / (to - from), 0), 1);
  return mostShare - (mostShare - leastShare) * along;
}

const isMergeKey = (key: unknown): boolean =>
  isScalar(key) && (typeof key.value === 'symbol' || (key.value === '<<' && key.type === 'PLAIN'));

function readNodes(document: Document.Parsed, text: string): Omit<ParsedJson, 'depth'> {
  const targets = resolveAliases(document);
  const duplicates: string[] = [];
  const open = new Set<Node>();
  let starts: readonly number[] | undefined;
  let nodes = 0;
  let aliased = 0;
  let aliasDepth = 0;

  function count(): void {
    nodes += 1;
    if (aliasDepth > 0) aliased += 1;
    if (aliased > 100 && nodes > 1000 && aliased / nodes > aliasShare(nodes)) {
      throw failed('document contains excessive aliasing');
    }
  }

  function followed<T>(alias: Node, read: (target: Node) => T): T {
    const target = targets.get(alias);
    if (!target) throw failed('unknown anchor referenced');
    if (open.has(target)) throw failed(`anchor '${(target as Scalar).anchor}' value contains itself`);
    open.add(target);
    aliasDepth += 1;
    const result = read(target);
    aliasDepth -= 1;
    open.delete(target);
    return result;
  }

  function read(node: unknown): JsonValue {
    count();
    if (isAlias(node)) return followed(node, read);
    if (isScalar(node)) return scalar(node);
    if (isSeq(node)) return within(node, () => node.items.map(read));
    if (!isMap(node)) return null;
    return within(node, () => {
      const result: JsonObject = {};
      fill(node, result, new Set());
      return sorted(result);
    });
  }

  /** A node with an anchor is open while it is read, so that an alias within it is found to be one. */
  function within<T>(node: Node & { anchor?: string }, reading: () => T): T {
    if (!node.anchor || open.has(node)) return reading();
    open.add(node);
    const result = reading();
    open.delete(node);
    return result;
  }

  function fill(map: YAMLMap, into: JsonObject, keys: Set<unknown>): void {
    for (const { key, value } of map.items) {
      if (isMergeKey(key)) {
        merge(value, into, keys);
        continue;
      }
      const name = read(key);
      if (typeof name === 'object' && name !== null) throw failed(`invalid map key: ${goValue(name)}`);
      const member = read(value);
      if (name === null) {
        throw new YamlTextError(
          `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${typeof member === 'object' && member !== null ? '{}' : goValue(member)}`,
        );
      }
      if (keys.has(name)) {
        starts ??= lineStarts(text);
        duplicates.push(`line ${lineAt(starts, placeOf(key, value))}: key ${goValue(name)} already set in map`);
      }
      keys.add(name);
      setMember(into, String(name), member);
    }
  }

  function merge(value: unknown, into: JsonObject, keys: Set<unknown>): void {
    const wrong = (): YamlTextError => failed('map merge requires map or sequence of maps as the value');
    const one = (node: unknown): void => {
      count();
      if (isAlias(node)) followed(node, one);
      else if (isMap(node)) fill(node, into, keys);
      else throw wrong();
    };
    if (!isSeq(value)) one(value);
    // The first of several counts most.
    else for (const item of value.items.toReversed()) one(item);
  }

  const value = read(document.contents);
  return { value, duplicates };
}

/** An object with its members in order, in which Go's library gives them on. */
function sorted(object: JsonObject): JsonObject {
  const members = Object.keys(object);
  if (members.every((member, index) => index === 0 || (members[index - 1] ?? '') < member)) return object;
  const result: JsonObject = {};
  for (const member of members.sort()) setMember(result, member, object[member] ?? null);
  return result;
}

/** A member is told by where its value begins. One without any is where its key is. */
function placeOf(key: unknown, value: unknown): number {
  const node = isScalar(value) && value.source === '' && value.type === 'PLAIN' ? key : (value ?? key);
  return (node as Node | null)?.range?.[0] ?? 0;
}

function scalar({ value, tag, source }: Scalar): JsonValue {
  if (tag === 'tag:yaml.org,2002:binary') return Buffer.from(String(value), 'base64').toString();
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    throw new YamlTextError(`json: unsupported value: ${shown}`);
  }
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value;
  return source ?? '';
}

/** A value as Go writes it in its own syntax. */
function goValue(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goValue).join(', ')}}`;
  if (typeof value === 'string') return goQuote(value);
  if (typeof value !== 'object') return String(value);
  const members = Object.entries(value).map(([key, member]) => `${goQuote(key)}:${goValue(member)}`);
  return `map[interface {}]interface {}{${members.join(', ')}}`;
}
