// A resource type as the tracking of managed fields sees it.
import type { TrackedType } from '../apply/ownership.ts';
import { resetFieldsOf } from '../apply/reset-fields.ts';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { apiVersionOf } from './served.ts';

const known = new WeakMap<ResourceType, Map<string, TrackedType>>();

/** The type as written through one endpoint; empty `subresource` for the resource itself. */
export function trackedType(types: TypeTable, type: ResourceType, subresource: string): TrackedType {
  let made = known.get(type);
  if (!made) {
    made = new Map();
    known.set(type, made);
  }
  let found = made.get(subresource);
  if (!found) {
    found = make(types, type, subresource);
    made.set(subresource, found);
  }
  return found;
}

function make(types: TypeTable, type: ResourceType, subresource: string): TrackedType {
  const { group, plural, custom } = type;
  const hasStatus = type.subresources.status !== undefined;
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    schema: type.schema,
    custom: custom !== undefined,
    reset: resetFieldsOf({ group, plural, subresource, hasStatus, custom: custom !== undefined }),
    subresource,
    version(apiVersion) {
      const slash = apiVersion.indexOf('/');
      const other = types.findKind(apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1), type.kind);
      if (!other || other.storage !== type.storage) return undefined;
      return {
        schema: other.schema,
        convert(object) {
          const stored = type.convert ? type.convert.toStored(object) : { ...object };
          return other.convert ? other.convert.toServed(stored) : { ...stored, apiVersion };
        },
      };
    },
  };
}
