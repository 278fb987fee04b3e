// A resource type as the tracking of managed fields sees it.
import { setOfMembers } from '../apply/fieldset.ts';
import type { TrackedType } from '../apply/ownership.ts';
import { resetFieldsOf } from '../apply/reset-fields.ts';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { pathOf } from './scale.ts';
import { apiVersionOf } from './served.ts';

interface Known {
  /** Clusters share types of custom resources, but not the versions beside them. */
  readonly types: TypeTable;
  readonly made: Map<string, TrackedType>;
}

const known = new WeakMap<ResourceType, Known>();

/** The type as written through one endpoint; empty `subresource` for the resource itself. */
export function trackedType(types: TypeTable, type: ResourceType, subresource: string): TrackedType {
  let last = known.get(type);
  if (!last || (type.custom && last.types !== types)) {
    last = { types, made: new Map() };
    known.set(type, last);
  }
  const { made } = last;
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
  const scale = type.subresources[subresource];
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    schema: type.schema,
    custom: custom !== undefined,
    reset: resetFieldsOf({ group, plural, subresource, hasStatus, custom: custom !== undefined }),
    subresource,
    ...(scale?.kind === 'scale' ? { scaled: setOfMembers(pathOf(scale.specReplicas)) } : {}),
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
