import { StoreError } from './errors.ts';
import type { Path } from './filter.ts';
import { typeName } from './keys.ts';

const maxSegments = 32;
const maxSegmentLength = 512;
/** Databases write member names between double quotes in a path. */
const cleanSegment = /^[^"\p{Cc}\p{Cs}]+$/u;

/** Refuses what is not a path of member names; `what` names it in the error. */
export function checkPath(what: string, path: unknown): asserts path is Path {
  if (!Array.isArray(path))
    throw new StoreError('Invalid', `${what} must be a list of member names, not ${typeName(path)}`);
  if (path.length === 0) throw new StoreError('Invalid', `${what} must name at least one member`);
  if (path.length > maxSegments) throw new StoreError('Invalid', `${what} has over ${maxSegments} members`);
  for (const [at, segment] of path.entries()) {
    if (typeof segment !== 'string')
      throw new StoreError('Invalid', `${what}[${at}] must be a string, not ${typeName(segment)}`);
    if (segment.length === 0) throw new StoreError('Invalid', `${what}[${at}] must not be empty`);
    if (segment.length > maxSegmentLength)
      throw new StoreError('Invalid', `${what}[${at}] is longer than ${maxSegmentLength} characters`);
    if (!cleanSegment.test(segment))
      throw new StoreError(
        'Invalid',
        `${what}[${at}] has a double quote, a control character or a broken surrogate pair in it`,
      );
  }
}

/** True for an object that has members of its own to go into, which arrays, nulls and scalars do not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member at a path; undefined where a member is missing or the way leads through something without members. */
export function valueAt(body: unknown, path: Path): unknown {
  let value = body;
  for (const segment of path) {
    if (!isObject(value) || !Object.hasOwn(value, segment)) return undefined;
    value = value[segment];
  }
  return value;
}
