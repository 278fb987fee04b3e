// What `create` answers for resources that are questions: nothing of them is stored.
import type { KubeObject } from '../object.ts';
import type { RequestContext } from '../request-context.ts';
import type { Access } from './access.ts';
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './access-reviews.ts';
import { selfSubjectReview, tokenReview } from './authentication-reviews.ts';

/** `namespace` is that of the request, empty for cluster-scoped questions. The object is decoded, its managedFields set. */
export type Review = (
  access: Access,
  context: RequestContext,
  namespace: string,
  object: KubeObject,
) => KubeObject | Promise<KubeObject>;

/** By group and plural, as `authentication.k8s.io/tokenreviews`. */
export const reviews: ReadonlyMap<string, Review> = new Map<string, Review>([
  ['authentication.k8s.io/tokenreviews', (access, _context, _namespace, object) => tokenReview(access, object)],
  [
    'authentication.k8s.io/selfsubjectreviews',
    (_access, { user, cluster }) =>
      selfSubjectReview(user, new Date(cluster.now()).toISOString().replace(/\.\d+Z$/, 'Z')),
  ],
  [
    'authorization.k8s.io/selfsubjectaccessreviews',
    (access, { user }, _namespace, object) => selfSubjectAccessReview(access, user, object),
  ],
  [
    'authorization.k8s.io/subjectaccessreviews',
    (access, _context, _namespace, object) => subjectAccessReview(access, object),
  ],
  [
    'authorization.k8s.io/localsubjectaccessreviews',
    (access, _context, namespace, object) => localSubjectAccessReview(access, namespace, object),
  ],
  [
    'authorization.k8s.io/selfsubjectrulesreviews',
    (access, { user }, _namespace, object) => selfSubjectRulesReview(access, user, object),
  ],
]);
