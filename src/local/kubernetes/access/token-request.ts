// Tokens on request: `create` on the subresource `token` of a service account.
import type { JsonObject, KubeObject, ObjectMeta } from '../object.ts';
import type { Entry, Objects } from '../objects/objects.ts';
import { badRequest, conflict, type FieldError, invalid, notFound } from '../status.ts';
import type { Access } from './access.ts';
import type { ObjectRef, TokenToIssue } from './service-account-tokens.ts';

interface TokenRequestSpec {
  readonly audiences?: string[];
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string } | null;
}

const leastSeconds = 600;
const mostSeconds = 2 ** 32;
const defaultSeconds = 3600;

const bindable: Readonly<Record<string, { readonly resource: string; readonly claim: 'pod' | 'node' | 'secret' }>> = {
  'v1/Pod': { resource: 'pods', claim: 'pod' },
  'v1/Node': { resource: 'nodes', claim: 'node' },
  'v1/Secret': { resource: 'secrets', claim: 'secret' },
};

/**
 * Answers a TokenRequest for a service account. Throws StatusError 404 when the account or the object to bind to is not there,
 * 409 for another uid, 422 for a life that is too short or too long. `now` is RFC 3339 in whole seconds.
 */
export async function requestToken(
  access: Access,
  objects: Objects,
  account: { readonly namespace: string; readonly name: string },
  request: KubeObject,
  now: string,
): Promise<KubeObject> {
  const { namespace, name } = account;
  const spec = (request.spec ?? {}) as TokenRequestSpec;
  const entry = objects.get('/serviceaccounts', namespace, name);
  if (!entry) throw notFound({ group: '', resource: 'serviceaccounts' }, name);
  const { metadata } = request;
  checkMetadata(metadata, namespace, name);
  const { expirationSeconds = defaultSeconds } = spec;
  refuse('', lifeErrors(expirationSeconds));
  const audiences = spec.audiences && spec.audiences.length > 0 ? spec.audiences : [access.tokens.issuer];
  const bound = spec.boundObjectRef ? boundObject(objects, namespace, name, spec.boundObjectRef) : {};
  const issued = await access.tokens.issue({
    namespace,
    account: { name, uid: entry.uid },
    audiences,
    lifeSeconds: expirationSeconds,
    ...bound,
  });
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { ...metadata, name, namespace, uid: entry.uid, creationTimestamp: now },
    spec: { audiences, expirationSeconds, boundObjectRef: (spec.boundObjectRef ?? null) as JsonObject | null },
    status: {
      token: issued.token,
      expirationTimestamp: new Date(issued.expiresAt * 1000).toISOString().replace('.000Z', 'Z'),
    },
  };
}

function checkMetadata(metadata: ObjectMeta, namespace: string, name: string): void {
  const errors: FieldError[] = [];
  if (metadata.name !== undefined && metadata.name !== '' && metadata.name !== name) {
    errors.push(invalidValue('metadata.name', metadata.name, 'must match the service account name if specified'));
  }
  if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
    errors.push(
      invalidValue('metadata.namespace', metadata.namespace, 'must match the service account namespace if specified'),
    );
  }
  refuse(name, errors);
}

function lifeErrors(seconds: number): FieldError[] {
  const field = 'spec.expirationSeconds';
  if (seconds < leastSeconds) return [invalidValue(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds > mostSeconds)
    return [invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
  return [];
}

type Bound = Pick<TokenToIssue, 'pod' | 'node' | 'secret'>;

function boundObject(
  objects: Objects,
  namespace: string,
  account: string,
  ref: NonNullable<TokenRequestSpec['boundObjectRef']>,
): Bound {
  const { apiVersion = '', kind = '', name = '', uid } = ref;
  const found = bindable[`${apiVersion}/${kind}`];
  if (!found) {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const subject = { group: '', resource: found.resource };
  const entry = objects.get(`/${found.resource}`, found.claim === 'node' ? '' : namespace, name);
  if (!entry) throw notFound(subject, name);
  if (uid && uid !== entry.uid) {
    throw conflict(
      subject,
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (found.claim !== 'pod') return { [found.claim]: { name, uid: entry.uid } };
  return podBinding(objects, entry, account);
}

function podBinding(objects: Objects, entry: Entry, account: string): Bound {
  const { name, uid } = entry;
  const { spec } = JSON.parse(entry.bytes.toString()) as { spec?: { serviceAccountName?: string; nodeName?: string } };
  if (spec?.serviceAccountName !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  const pod: ObjectRef = { name, uid };
  if (!spec.nodeName) return { pod };
  const node = objects.get('/nodes', '', spec.nodeName);
  return { pod, node: { name: spec.nodeName, uid: node?.uid ?? '' } };
}

const invalidValue = (field: string, value: string | number, why: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
});

function refuse(name: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, name, errors);
}
