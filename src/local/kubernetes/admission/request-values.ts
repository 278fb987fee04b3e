// A request as expressions see it.
import { authorizerOf, resourceCheckOf } from '../cel/functions/authorizer.ts';
import { readAny } from '../cel/json-values.ts';
import type { CelValue } from '../cel/values.ts';
import type { JsonObject, JsonValue } from '../object.ts';
import type { AdmissionRequest } from '../registry/admission.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { reviewRequest } from './admission-review.ts';

/** The variables that all expressions have, with the objects in the version of `wanted`. */
export function requestValues(
  request: AdmissionRequest,
  wanted: ResourceType = request.type,
): Readonly<Record<string, CelValue>> {
  const { object = null, oldObject = null, uid: _uid, ...asked } = reviewRequest(request, wanted);
  const { cluster, user } = request.context;
  return {
    object: readAny(object),
    oldObject: readAny(oldObject),
    request: readAny(asked),
    namespaceObject: readAny(namespaceOf(request)),
    authorizer: authorizerOf(user, cluster.mayDo),
    'authorizer.requestResource': resourceCheckOf(user, cluster.mayDo, {
      group: wanted.group,
      resource: wanted.plural,
      subresource: request.subresource,
      namespace: request.namespace,
      name: request.name.name,
    }),
  };
}

/** The namespace of what is written, without who owns its fields; null for what has none. */
function namespaceOf({ type, namespace, context: { cluster } }: AdmissionRequest): JsonValue {
  const entry = type.namespaced ? cluster.objects.get('/namespaces', '', namespace) : undefined;
  if (!entry) return null;
  const { metadata, spec = {}, status = {} } = JSON.parse(entry.bytes.toString()) as Record<string, JsonObject>;
  const { managedFields: _managed, ownerReferences: _owners, ...kept } = metadata ?? {};
  return { metadata: kept, spec, status };
}
