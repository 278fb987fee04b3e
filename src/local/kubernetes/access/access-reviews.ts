// Questions about access as API objects: SubjectAccessReview and its kin, and SelfSubjectRulesReview.
import type { JsonObject, JsonValue, KubeObject, ObjectMeta } from '../object.ts';
import { badRequest, type FieldError, invalid } from '../status.ts';
import type { Access } from './access.ts';
import type { PolicyRule } from './policy-rule.ts';
import { errorList } from './rbac.ts';
import type { AccessQuestion, User } from './user.ts';

interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly fieldSelector?: SelectorAttributes | null;
  readonly labelSelector?: SelectorAttributes | null;
}

interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly JsonObject[];
}

interface ReviewSpec {
  readonly resourceAttributes?: ResourceAttributes | null;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string } | null;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const group = 'authorization.k8s.io';

/** What the asker himself may do. Throws StatusError 422 for a spec that asks nothing, or two things. */
export function selfSubjectAccessReview(access: Access, user: User, review: KubeObject): KubeObject {
  const spec = (review.spec ?? {}) as ReviewSpec;
  refuse([...attributeErrors(spec), ...selectorErrors(spec), ...metadataErrors(review, 'must be empty')]);
  return answered(access, user, spec, review);
}

/** What a named user or group may do. */
export function subjectAccessReview(access: Access, review: KubeObject): KubeObject {
  const spec = (review.spec ?? {}) as ReviewSpec;
  refuse([...subjectReviewErrors(spec), ...metadataErrors(review, 'must be empty')]);
  return answered(access, subjectOf(spec), spec, review);
}

/** What a named user or group may do in the namespace of the request. */
export function localSubjectAccessReview(access: Access, namespace: string, review: KubeObject): KubeObject {
  const spec = (review.spec ?? {}) as ReviewSpec;
  const { namespace: given = namespace, ...metadata } = review.metadata;
  if (given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const errors = [
    ...subjectReviewErrors(spec),
    ...metadataErrors({ ...review, metadata }, 'must be empty except for namespace'),
  ];
  const asked = spec.resourceAttributes;
  if (asked && (asked.namespace ?? '') !== namespace) {
    errors.push(
      invalidValue('spec.resourceAttributes.namespace', asked.namespace ?? '', 'must match metadata.namespace'),
    );
  }
  if (spec.nonResourceAttributes) {
    errors.push(
      invalidValue(
        'spec.nonResourceAttributes',
        goAttributes(spec.nonResourceAttributes),
        'disallowed on this kind of request',
      ),
    );
  }
  refuse(errors);
  return answered(access, subjectOf(spec), spec, review);
}

/** Every rule that applies to the asker in a namespace, for `kubectl auth can-i --list`. */
export function selfSubjectRulesReview(access: Access, user: User, review: KubeObject): KubeObject {
  const { namespace = '' } = (review.spec ?? {}) as { namespace?: string };
  if (namespace === '') throw badRequest('no namespace on request');
  const { rules, errors } = access.authorizer.rulesFor(user, namespace);
  const isPath = (rule: PolicyRule): boolean => (rule.nonResourceURLs ?? []).length > 0;
  return {
    apiVersion: `${group}/v1`,
    kind: 'SelfSubjectRulesReview',
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.filter((rule) => !isPath(rule)).map(resourceRule),
      nonResourceRules: rules.filter(isPath).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(errors.length > 0 ? { evaluationError: errorList(errors) } : {}),
    },
  };
}

const resourceRule = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule): object => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames && resourceNames.length > 0 ? { resourceNames } : {}),
});

function answered(access: Access, user: User, spec: ReviewSpec, review: KubeObject): KubeObject {
  const { allowed, reason } = access.mayDo(user, questionOf(spec));
  return { ...review, status: { allowed, ...(reason === '' ? {} : { reason }) } };
}

function questionOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec): AccessQuestion {
  if (nonResourceAttributes) {
    return { kind: 'path', verb: nonResourceAttributes.verb ?? '', path: nonResourceAttributes.path ?? '' };
  }
  const { verb = '', group = '', version = '', resource = '', subresource = '' } = resourceAttributes ?? {};
  const { namespace = '', name = '' } = resourceAttributes ?? {};
  return { kind: 'resource', verb, group, version, resource, subresource, namespace, name };
}

const subjectOf = ({ user = '', groups = [], uid, extra }: ReviewSpec): User => ({
  name: user,
  groups,
  ...(uid === undefined ? {} : { uid }),
  ...(extra === undefined ? {} : { extra }),
});

function attributeErrors({ resourceAttributes, nonResourceAttributes }: ReviewSpec): FieldError[] {
  if (resourceAttributes && nonResourceAttributes) {
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalidValue('spec.nonResourceAttributes', goAttributes(nonResourceAttributes), why)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidValue('spec.resourceAttributes', null, why)];
}

const subjectReviewErrors = (spec: ReviewSpec): FieldError[] => [
  ...attributeErrors(spec),
  ...subjectErrors(spec),
  ...selectorErrors(spec),
];

const metadataErrors = ({ metadata }: KubeObject, why: string): FieldError[] =>
  Object.keys(metadata).every((key) => key === 'managedFields')
    ? []
    : [invalidValue('metadata', inOrder(metadata), why)];

/** Metadata as refusals quote it. */
const inOrder = ({ name, generateName, namespace, labels, annotations, ...rest }: ObjectMeta): JsonValue =>
  JSON.parse(JSON.stringify({ name, generateName, namespace, labels, annotations, ...rest })) as JsonValue;

function selectorErrors({ resourceAttributes }: ReviewSpec): FieldError[] {
  return (['fieldSelector', 'labelSelector'] as const).flatMap((name): FieldError[] => {
    const selector = resourceAttributes?.[name];
    const field = `spec.resourceAttributes.${name}`;
    if (!selector) return [];
    const { rawSelector = '', requirements = [] } = selector;
    if (rawSelector !== '' && requirements.length > 0) {
      return [invalidValue(`${field}.rawSelector`, rawSelector, 'may not specified at the same time as requirements')];
    }
    if (rawSelector !== '' || requirements.length > 0) return [];
    const why = `when ${field} is specified, requirements or rawSelector is required`;
    return [{ type: 'FieldValueRequired', field: `${field}.requirements`, message: `Required value: ${why}` }];
  });
}

function subjectErrors({ user = '', groups = [] }: ReviewSpec): FieldError[] {
  return user === '' && groups.length === 0
    ? [invalidValue('spec.user', '', 'at least one of user or group must be specified')]
    : [];
}

/** Refusals show the server's own field names. */
const goAttributes = ({ path = '', verb = '' }: { path?: string; verb?: string }): JsonObject => ({
  Path: path,
  Verb: verb,
});

const invalidValue = (field: string, value: JsonValue, why: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
});

/** The server leaves out kind and name here. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group, kind: '' }, '', errors);
}
