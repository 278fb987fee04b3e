// Fields that server-side apply leaves to others once the object is there.
import { createHash } from 'node:crypto';
import { isRecord } from '../arm/record.ts';
import type { UntypedObject } from '../kube/object.ts';
import { parseJsonPath } from './json-path.ts';
import type { IgnoreField } from './work.ts';

/** Says what is wrong with a selector of ignored fields. */
export class IgnoreFieldError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IgnoreFieldError';
  }
}

/** Holds the hash of what was applied last: while it is the same, nothing is applied. */
export const specHashAnnotation = 'open-cluster-management.io/config-spec-hash';

export interface Reduced {
  /** To apply where the object is not there yet: all fields, with the hash. */
  readonly whole: UntypedObject;
  /** To apply where it is: without the fields ignored while they are present. */
  readonly reduced: UntypedObject;
  readonly hash: string;
}

/**
 * Reduces a manifest by the fields to ignore. Those ignored on change stay in it and in the hash: they are applied again only when
 * the manifest changes. Throws IgnoreFieldError.
 */
export function reduceIgnored(desired: UntypedObject, fields: readonly IgnoreField[]): Reduced {
  const reduced = structuredClone(desired);
  for (const field of fields) {
    if (field.condition === 'OnSpokeChange') continue;
    for (const path of field.jsonPaths ?? []) named('JSON path', path, () => parseJsonPath(path).remove(reduced));
    for (const pointer of field.jsonPointers ?? [])
      named('JSON Pointer', pointer, () => removePointer(reduced, pointer));
    for (const expression of field.jqPathExpressions ?? []) {
      // Paths are the same in both languages; what else jq can do is not supported.
      named('JQ expression', expression, () => parseJsonPath(asJsonPath(expression)).remove(reduced));
    }
  }
  const hash = createHash('sha256').update(JSON.stringify(reduced)).digest('hex').slice(0, 32);
  return { whole: withHash(desired, hash), reduced: withHash(reduced, hash), hash };
}

function withHash(object: UntypedObject, hash: string): UntypedObject {
  const annotations = { ...object.metadata.annotations, [specHashAnnotation]: hash };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function removePointer(object: UntypedObject, pointer: string): void {
  if (!pointer.startsWith('/')) throw new Error('a pointer begins with /');
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = names.pop() ?? '';
  let parent: unknown = object;
  for (const name of names) {
    if (Array.isArray(parent)) parent = /^(?:0|[1-9]\d{0,8})$/.test(name) ? parent[Number(name)] : undefined;
    else parent = isRecord(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
  }
  if (Array.isArray(parent) && /^(?:0|[1-9]\d{0,8})$/.test(last)) parent.splice(Number(last), 1);
  else if (isRecord(parent) && Object.hasOwn(parent, last)) delete (parent as Record<string, unknown>)[last];
}

const longestExpression = 1024;
const selectForm = /\[\]\s*\|\s*select\(\s*(\.[A-Za-z0-9_.-]+)\s*(==|!=)\s*("[^"]*"|\d+|true|false)\s*\)\s*\|?\s*/g;

/** `.a[] | select(.name == "x") | .b` as `.a[?(@.name=="x")].b`, and `.a[]` as `.a[*]`. */
function asJsonPath(expression: string): string {
  if (expression.length > longestExpression) throw new Error(`it is longer than ${longestExpression} characters`);
  return expression
    .trim()
    .replaceAll(/\(\s*(\.[^()|]*\[\]\s*\|\s*select\([^()]*\))\s*\)/g, '$1')
    .replaceAll(selectForm, (_, path: string, operator: string, value: string) => `[?(@${path}${operator}${value})]`)
    .replaceAll('[]', '[*]')
    .replaceAll(/\s*\|\s*(?=\.)/g, '');
}

function named(what: string, text: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new IgnoreFieldError(`${what} error in '${text}': ${error instanceof Error ? error.message : String(error)}`);
  }
}
