import type { Layout } from './engine.ts';
import { StoreError } from './errors.ts';
import type { Path } from './filter.ts';
import { typeName } from './keys.ts';
import { checkPath, isObject } from './paths.ts';
import { overlap, reachesSealed } from './sealing.ts';
import type { ContainerSpec } from './store.ts';

const nameForm = /^[a-z][a-z0-9_]{0,39}$/;
const indexTypes: readonly unknown[] = ['string', 'number', 'boolean'];
/** Longest time to live: 68 years, what fits 32 bits. */
const maxTtlSeconds = 2_147_483_647;

/** Checks a container's spec and gives the part of it that shapes tables. Throws Invalid naming the culprit. */
export function layoutOf<T>(spec: ContainerSpec<T>, canSeal: boolean): Layout {
  if (!isObject(spec)) throw new StoreError('Invalid', `a container's spec must be an object, not ${typeName(spec)}`);
  if (typeof spec.name !== 'string' || !nameForm.test(spec.name))
    throw new StoreError(
      'Invalid',
      `container name ${JSON.stringify(spec.name)} is not of the form ${nameForm.source}`,
    );
  const where = `container ${spec.name}`;
  const sealed = spec.sealed ?? [];
  sealed.forEach((path, at) => {
    checkPath(`${where}: sealed[${at}]`, path);
    if (path.every((segment) => segment === '*'))
      throw new StoreError('Invalid', `${where}: sealed[${at}] must name a member, not only *`);
    const twin = sealed.findIndex((other, nth) => nth < at && overlap(other, path));
    if (twin !== -1)
      throw new StoreError('Invalid', `${where}: sealed[${twin}] and sealed[${at}] can be the same place`);
  });
  if (sealed.length > 0 && !canSeal)
    throw new StoreError('Invalid', `${where} has sealed paths, so the store must be opened with a key ring`);

  const plainPath = (what: string, path: unknown): Path => {
    checkPath(`${where}: ${what}`, path);
    if (path.includes('*')) throw new StoreError('Invalid', `${where}: ${what} must not hold *: only sealed paths may`);
    if (reachesSealed(sealed, path))
      throw new StoreError('Invalid', `${where}: ${what} is sealed, so it cannot be searched`);
    return path;
  };

  const uniqueNames = new Set<string>();
  const uniqueKeys = (spec.uniqueKeys ?? []).map(({ name, paths }, at) => {
    if (typeof name !== 'string' || !nameForm.test(name))
      throw new StoreError('Invalid', `${where}: uniqueKeys[${at}].name is not of the form ${nameForm.source}`);
    if (uniqueNames.has(name)) throw new StoreError('Invalid', `${where}: two unique keys are named ${name}`);
    uniqueNames.add(name);
    if (!Array.isArray(paths) || paths.length === 0)
      throw new StoreError('Invalid', `${where}: uniqueKeys[${at}].paths must hold at least one path`);
    return { name, paths: paths.map((path, nth) => plainPath(`uniqueKeys[${at}].paths[${nth}]`, path)) };
  });
  const indexes = (spec.indexes ?? []).map(({ field, type }, at) => {
    if (!indexTypes.includes(type))
      throw new StoreError('Invalid', `${where}: indexes[${at}].type must be string, number or boolean`);
    return { field: plainPath(`indexes[${at}].field`, field), type };
  });
  const labels = spec.labels === undefined ? undefined : plainPath('labels', spec.labels);
  if (labels && sealed.some((path) => labels.every((segment, at) => path[at] === segment || path[at] === '*')))
    throw new StoreError('Invalid', `${where}: labels holds a sealed path, so it cannot be searched`);
  if (spec.ttlSeconds !== undefined) checkTtl(`${where}: ttlSeconds`, spec.ttlSeconds);
  if (spec.queue !== undefined && typeof spec.queue !== 'function')
    throw new StoreError('Invalid', `${where}: queue must be a function, not ${typeName(spec.queue)}`);
  return { name: spec.name, uniqueKeys, indexes, labels };
}

export function checkTtl(what: string, seconds: unknown): asserts seconds is number {
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > maxTtlSeconds)
    throw new StoreError('Invalid', `${what} must be a number of seconds above 0 and up to ${maxTtlSeconds}`);
}
