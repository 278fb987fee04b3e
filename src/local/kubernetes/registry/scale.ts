// The scale subresource: a small object of its own over two or three paths of the object it belongs to.
import type { KubeObject } from '../object.ts';
import { isObject } from '../patch/json-tree.ts';
import { badRequest, invalid } from '../status.ts';
import type { ResourceType, Subresource } from '../types/resource-type.ts';
import { apiVersionOf } from './served.ts';

export type ScaleResource = Extract<Subresource, { kind: 'scale' }>;

/** The members that a path such as `.spec.replicas` goes through. */
export const pathOf = (path: string): string[] => path.split('.').filter((part) => part !== '');

function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const part of pathOf(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function setAt(object: KubeObject, path: string, value: unknown): void {
  const parts = pathOf(path);
  const last = parts.pop();
  if (last === undefined) return;
  let at: Record<string, unknown> = object;
  for (const part of parts) {
    const next = at[part];
    const inner = typeof next === 'object' && next !== null ? { ...next } : {};
    at[part] = inner;
    at = inner as Record<string, unknown>;
  }
  at[last] = value;
}

/** A selector in the form of a query, from the form it has in specs. */
function selectorText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { matchLabels, matchExpressions } = value as {
    matchLabels?: Record<string, string>;
    matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
  };
  const labels = matchLabels ?? (matchExpressions ? {} : (value as Record<string, string>));
  const parts = Object.entries(labels).map(([key, text]) => `${key}=${text}`);
  for (const { key, operator, values = [] } of matchExpressions ?? []) {
    const list = `(${[...values].sort().join(',')})`;
    if (operator === 'In') parts.push(`${key} in ${list}`);
    else if (operator === 'NotIn') parts.push(`${key} notin ${list}`);
    else parts.push(operator === 'Exists' ? key : `!${key}`);
  }
  return parts.sort().join(',');
}

/** The Scale of an object. */
export function scaleOf(scale: ScaleResource, object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, scale.specReplicas);
  const selector = scale.selector ? selectorText(valueAt(object, scale.selector)) : undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: { replicas: valueAt(object, scale.statusReplicas) ?? 0, ...(selector ? { selector } : {}) },
  };
}

/** What applying a Scale says about the object it belongs to. */
export function scaleConfiguration(scale: ScaleResource, type: ResourceType, config: unknown): unknown {
  if (!isObject(config)) return config;
  const { apiVersion, kind, metadata, spec } = config;
  if (apiVersion !== 'autoscaling/v1' || kind !== 'Scale') {
    throw badRequest(
      `invalid object type: ${String(apiVersion ?? '').includes('/') ? '' : '/'}${String(apiVersion ?? '')}, Kind=${String(kind ?? '')}`,
    );
  }
  const own = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: metadata ?? {} } as unknown as KubeObject;
  const replicas = isObject(spec) ? spec.replicas : undefined;
  if (replicas !== undefined) setAt(own, scale.specReplicas, replicas);
  return own;
}

/** The object with the replicas that a Scale asks for, under the preconditions in its metadata. */
export function applyScale(
  scale: ScaleResource,
  type: ResourceType,
  object: KubeObject,
  wanted: KubeObject,
): KubeObject {
  const { spec, metadata } = wanted as KubeObject & { spec?: { replicas?: unknown } };
  if (wanted.kind !== undefined && wanted.kind !== 'Scale') {
    throw badRequest(`wrong object passed to Scale update: ${wanted.kind}`);
  }
  const replicas = spec?.replicas ?? 0;
  const name = object.metadata.name ?? '';
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequest(
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  // Custom resources check theirs themselves.
  if (replicas < 0 && !type.custom) {
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [
      {
        type: 'FieldValueInvalid',
        field: 'spec.replicas',
        message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
      },
    ]);
  }
  const { resourceVersion, uid } = metadata ?? {};
  const changed: KubeObject = {
    ...object,
    apiVersion: object.apiVersion,
    kind: type.kind,
    metadata: { ...object.metadata },
  };
  if (uid) changed.metadata.uid = uid;
  if (resourceVersion) changed.metadata.resourceVersion = resourceVersion;
  setAt(changed, scale.specReplicas, replicas);
  return changed;
}
