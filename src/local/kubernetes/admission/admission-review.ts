// A request as webhooks and policies see it.
import { randomUUID } from 'node:crypto';
import { userInfo } from '../access/authentication-reviews.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import type { AdmissionRequest } from '../registry/admission.ts';
import { scaleOf } from '../registry/scale.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { convertedTo } from './webhook-configurations.ts';

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

const kindOf = ({ group, version, kind }: ResourceType): JsonObject => ({ group, version, kind });
const scaleKind: JsonObject = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const resourceOf = ({ group, version, plural }: ResourceType): JsonObject => ({ group, version, resource: plural });

/** The `request` of an AdmissionReview, with the objects in the version of `wanted`. */
export function reviewRequest(request: AdmissionRequest, wanted: ResourceType = request.type): JsonObject {
  const { type, subresource, name, namespace, operation, context, object, old } = request;
  const scale = type.subresources?.[subresource];
  const seen = (one: KubeObject): KubeObject =>
    scale?.kind === 'scale' ? scaleOf(scale, one) : convertedTo(type, wanted, one);
  const inVersion = (one: KubeObject | undefined): JsonObject | null =>
    one ? (seen(one) as unknown as JsonObject) : null;
  const kindAs = (one: ResourceType): JsonObject => (scale?.kind === 'scale' ? scaleKind : kindOf(one));
  const objectName = name.name || object?.metadata.name || '';
  return {
    uid: randomUUID(),
    kind: kindAs(wanted),
    resource: resourceOf(wanted),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindAs(type),
    requestResource: resourceOf(type),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(objectName === '' ? {} : { name: objectName }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userInfo(context.user),
    object: operation === 'DELETE' ? null : inVersion(object),
    oldObject: inVersion(old ?? (operation === 'DELETE' ? object : undefined)),
    dryRun: context.dryRun,
    options: optionsOf(request),
  };
}

function optionsOf({ operation, context, deleteOptions }: AdmissionRequest): JsonObject {
  return {
    kind: optionKinds[operation],
    apiVersion: 'meta.k8s.io/v1',
    ...(operation === 'DELETE'
      ? ({ ...deleteOptions } as JsonObject)
      : { ...(context.fieldManager === '' ? {} : { fieldManager: context.fieldManager }) }),
    ...(context.dryRun ? { dryRun: ['All'] } : {}),
  };
}
