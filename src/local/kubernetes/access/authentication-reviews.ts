// Questions about who somebody is, as API objects: TokenReview and SelfSubjectReview.
import type { JsonObject, KubeObject } from '../object.ts';
import { badRequest } from '../status.ts';
import type { Access } from './access.ts';
import { errorList } from './rbac.ts';
import type { User } from './user.ts';

/** Whom a token stands for, if it is meant for one of the audiences asked for. */
export async function tokenReview(access: Access, review: KubeObject): Promise<KubeObject> {
  const { token = '', audiences = [] } = (review.spec ?? {}) as { token?: string; audiences?: string[] };
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const wanted = audiences.length > 0 ? audiences : [access.tokens.issuer];
  const found = await access.tokenUser(token, wanted);
  if (found) {
    return {
      ...review,
      status: { authenticated: true, user: userInfo(found.user), audiences: [...found.audiences] },
    };
  }
  const why = await access.tokens.whyRefused(token, wanted);
  const errors = ['invalid bearer token', ...(why === undefined ? [] : [why])];
  return { ...review, status: { user: {}, error: errorList(errors) } };
}

/** Who the asker is. */
export function selfSubjectReview(user: User, createdAt: string): KubeObject {
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { creationTimestamp: createdAt },
    status: { userInfo: userInfo(user) },
  };
}

/** A user in the API's notation. */
export function userInfo({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups: [...groups] } : {}),
    ...(extra && Object.keys(extra).length > 0
      ? { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }
      : {}),
  };
}
