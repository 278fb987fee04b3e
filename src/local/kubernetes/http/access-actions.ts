// Reviews and token requests: questions that are created, answered and not kept.
import { reviews } from '../access/reviews.ts';
import { requestToken } from '../access/token-request.ts';
import { leaf } from '../apply/fieldset.ts';
import type { TrackedType } from '../apply/ownership.ts';
import { trackUpdate } from '../apply/track-update.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { timestamp } from '../registry/timestamp.ts';
import { trackedType } from '../registry/tracked-type.ts';
import { schemaOfKind } from '../schema/definitions.ts';
import { badRequest } from '../status.ts';
import type { ActionHandler } from './routes.ts';

const tokenRequest = (): TrackedType => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  schema: schemaOfKind('authentication.k8s.io', 'v1', 'TokenRequest') ?? {},
  custom: false,
  reset: leaf,
  subresource: 'token',
});

/** A life that is not asked for is written as null in this type. */
function withoutNull(object: KubeObject): KubeObject {
  const spec = Object.entries((object.spec ?? {}) as JsonObject).filter(([, value]) => value !== null);
  return { ...object, spec: Object.fromEntries(spec) };
}

export const accessActions: ReadonlyMap<string, ActionHandler> = new Map<string, ActionHandler>([
  ...[...reviews].map(([key, review]): [string, ActionHandler] => [
    key,
    async ({ context, cluster, type, namespace, object }) => {
      if (!object) throw badRequest('a review needs a body');
      const now = timestamp(cluster.now());
      const tracked = trackUpdate({
        type: trackedType(cluster.types, type, ''),
        live: undefined,
        object,
        manager: context.fieldManager,
        now,
      });
      return { status: 201, body: await review(cluster.access, context, namespace, tracked) };
    },
  ]),
  [
    '/serviceaccounts/token',
    async ({ context, cluster, namespace, name, object }) => {
      if (!object) throw badRequest('a token request needs a body');
      const now = timestamp(cluster.now());
      const request = trackUpdate({
        type: tokenRequest(),
        live: undefined,
        object: withoutNull(object),
        manager: context.fieldManager,
        now,
      });
      const body = await requestToken(cluster.access, cluster.objects, { namespace, name }, request, now);
      return { status: 201, body };
    },
  ],
]);
