// A resource type as the tracking of managed fields sees it.
import { leaf, setOfMembers } from '../apply/fieldset.ts';
import type { ResetFields, TrackedType } from '../apply/ownership.ts';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { apiVersionOf } from './served.ts';

const status = setOfMembers(['status']);
const nothing: ResetFields = { except: leaf };

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
  const isStatus = type.subresources[subresource]?.kind === 'status';
  const reset: ResetFields = isStatus ? { only: status } : type.subresources.status ? { except: status } : nothing;
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    schema: type.schema,
    custom: type.custom !== undefined,
    reset,
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
