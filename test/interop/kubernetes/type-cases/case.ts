// What a case of the built-in types is: an object that is put to a real kube-apiserver and to the embedded server's types, and must
// fare the same at both.
import type { JsonObject, JsonValue } from '../../../../src/local/kubernetes/object.ts';

export interface AcceptedCase {
  /** `group/version/plural`, or `version/plural`. */
  readonly resource: string;
  readonly body: JsonObject;
}

export interface CreateCase extends AcceptedCase {
  readonly name: string;
}

export interface UpdateCase extends CreateCase {
  /** A merge patch on what the create gave. */
  readonly change: JsonObject;
}

/** The cases of one part of the API. */
export interface TypeCases {
  /** Objects that are taken; what the server makes of them is compared. */
  readonly accepted: readonly AcceptedCase[];
  /** Objects that are refused; status, reason, message and causes are compared. */
  readonly refusedCreates: readonly CreateCase[];
  readonly refusedUpdates: readonly UpdateCase[];
}

export const podSpec = (more: JsonObject = {}, container: JsonObject = {}): JsonObject => ({
  containers: [{ name: 'c', image: 'nginx', ...container }],
  ...more,
});
export const template = (more: JsonObject = {}, container: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: 'a' } },
  spec: podSpec(more, container),
});
export const selector: JsonObject = { matchLabels: { app: 'a' } };
export const object = (spec: JsonObject | undefined, more: JsonObject = {}): JsonObject => ({
  metadata: { name: 'x' },
  ...(spec ? { spec } : {}),
  ...more,
});
export const claim: JsonObject = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
/** A certificate request for CN=x that was made once; its key is not kept. */
export const certificateRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1VUQ0NBVGtDQVFBd0RERUtNQWdHQTFVRUF3d0JlRENDQVNJd0RRWUpLb1pJaHZjTkFRRUJCUUFEZ2dFUApBRENDQVFvQ2dnRUJBTHJxLzFBNllwazNmbGR5UVBqQVE3U2Vhdk1MU3UzRFUwdVgvdHNHdVNUZXRHbnZjdTJMCkVnSkQza1VuVUFXeDl6NFRqNXZDcU0vK2EvMzhlUEZxZlZKRFY2Qi9UY2lJSlNtVnppVkV1QjZJSEJWZFNXa2MKeTZSOFVEdmdvbkZSSmM5bGp4SG5JaEZCNFVBKzgrTnl0dkZWekU5RlFJaGc0ZW5McU9KMkY2RGdkZ09wOXZEMwo3bGlKbzZIZ09oY200a3N3ZUMxanhUQm43dlNLYzF2NGM1NFZtSHlsamhJTk96c3lnMG9vK3p0c1ZFMFRYN1FMCnl0VjE2bXVHZzFoV3h6T2hMMGE1MDdzeHZ0cGladkg0UU1ycWJVNDVqZUlCek03T3RIbjV2ZlNNelpVelhoVUgKSllJZlNEMWhnd01jYmFwNk54SnQ3eTBwWTJySmtxTzcrL2NDQXdFQUFhQUFNQTBHQ1NxR1NJYjNEUUVCQ3dVQQpBNElCQVFBUVpqYnNXb1ZGcE0rTkloWmRZL3JQcG9DWG95T3QwWTloSzhUQm5DZ3BrNFpYR2prbWNVend6RmhvCk55UTVvSnpmT1VJSndpQmV4cjhhdTdOVjQ1WW5wdnErR2hRSTlwSjU1TDVielY2ODgzRUJ3NzJBejJOeG1nbGEKalFrN3l4NzdWdjVqMXF5RkN4RWFnQ1R4c3l6L1lBV0VXTUtzSWEwdDFoYmZLZ0QzQi93UFQ5U3pCMkU4QXdPVgp1UVl1c3lQYlJ2VXlzbGJmSThENzhyNXd5ODNNZnYxMmFWQnJSVEgyUEJ5dzFiVGY2RmN0b3pnTmdkYllidFFZCnVHMmJpcWtSWDhGWGNyZTFhaUNJN3ZjRnYyaU5jTmhGaGtOcWhzamphd2JaMGY4czVvWDI1d08yQmp3YS84VHMKTmE0M2NFUFJnN2RLOWV6dEtqSVppMlpSTlBkQwotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
export const containers = (more: JsonObject): JsonValue => [{ name: 'c', image: 'nginx', ...more }];
export const named = (name: string): JsonObject => ({ metadata: { name } });
export const long = (length: number): string => 'a'.repeat(length);
export const refused = (name: string, resource: string, body: JsonObject): CreateCase => ({ name, resource, body });
export const updated = (name: string, resource: string, body: JsonObject, change: JsonObject): UpdateCase => ({
  name,
  resource,
  body,
  change,
});
export const accepted = (resource: string, body: JsonObject): AcceptedCase => ({ resource, body });
