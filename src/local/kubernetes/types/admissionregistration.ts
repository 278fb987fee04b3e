// Who is asked before a change is admitted. Expressions are compiled, and refused, by those who run them.
import type { KubeObject } from '../object.ts';
import { duplicate, forbiddenField, invalidBy, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { dns1123Subdomain, portNumber, qualifiedName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import type { LabelSelector } from './pod/pod-spec.ts';
import type { ResourceType } from './resource-type.ts';
import { validateSelector } from './selectors.ts';
import { ownStatus, status } from './status.ts';

const group = 'admissionregistration.k8s.io';
const categories = ['api-extensions'];

interface Rule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
}

interface Webhook {
  name: string;
  clientConfig: { url?: string; service?: { namespace: string; name: string; path?: string; port?: number } };
  rules?: Rule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  sideEffects: string | null;
  timeoutSeconds?: number;
  admissionReviewVersions: string[] | null;
  reinvocationPolicy?: string;
  matchConditions?: { name: string; expression: string }[];
}

interface MatchResources {
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: Rule[];
  excludeResourceRules?: Rule[];
}

const hooksOf = (object: KubeObject): Webhook[] => (object.webhooks ?? []) as Webhook[];

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const failurePolicies = ['Fail', 'Ignore'];
const matchPolicies = ['Equivalent', 'Exact'];
const sideEffects = ['None', 'NoneOnDryRun'];
const reinvocations = ['IfNeeded', 'Never'];
const ruleScopes = ['*', 'Cluster', 'Namespaced'];
const reviewVersions = ['v1', 'v1beta1'];

/** A list in which the wildcard stands alone. */
function validateList(
  values: readonly string[] | undefined,
  field: string,
  noun: string,
  mayBeEmpty: boolean,
): FieldError[] {
  if (!values?.length) return [required(field)];
  const found: FieldError[] = [];
  if (values.length > 1 && values.includes('*')) {
    found.push(invalidValue(field, values, `if '*' is present, must not specify other ${noun}`));
  }
  if (!mayBeEmpty) {
    for (const [index, value] of values.entries()) if (value === '') found.push(required(`${field}[${index}]`));
  }
  return found;
}

function validateResources(resources: readonly string[] | undefined, field: string): FieldError[] {
  if (!resources?.length) return [required(field)];
  const found: FieldError[] = [];
  if (resources.length > 1 && resources.includes('*/*')) {
    found.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  } else if (resources.includes('*') && resources.some((each) => each !== '*' && !each.includes('/'))) {
    found.push(
      invalidValue(field, resources, "if '*' is present, must not specify other resources without subresources"),
    );
  }
  for (const [index, resource] of resources.entries()) if (resource === '') found.push(required(`${field}[${index}]`));
  return found;
}

function validateRule(rule: Rule, field: string): FieldError[] {
  const found = validateList(rule.operations, `${field}.operations`, 'operations', true);
  for (const [index, operation] of (rule.operations ?? []).entries()) {
    if (!operations.includes(operation)) {
      found.push(notSupported(`${field}.operations[${index}]`, operation, operations));
    }
  }
  found.push(
    ...validateList(rule.apiGroups, `${field}.apiGroups`, 'API groups', true),
    ...validateList(rule.apiVersions, `${field}.apiVersions`, 'API versions', false),
    ...validateResources(rule.resources, `${field}.resources`),
  );
  if (rule.scope !== undefined && !ruleScopes.includes(rule.scope)) {
    found.push(notSupported(`${field}.scope`, rule.scope, ruleScopes));
  }
  return found;
}

const urlForm = 'desired format: https://host[/path]';

function validateUrl(text: string, field: string): FieldError[] {
  const parts = URL.parse(text);
  if (!parts) return [required(field, `url must be a valid URL: parse ${JSON.stringify(text)}; ${urlForm}`)];
  const found: FieldError[] = [];
  const scheme = parts.protocol.slice(0, -1);
  if (scheme !== 'https') {
    found.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme; ${urlForm}`));
  }
  if (!parts.host) found.push(invalidValue(field, parts.host, `host must be specified; ${urlForm}`));
  if (parts.username || parts.password) {
    found.push(invalidValue(field, parts.username, 'user information is not permitted in the URL'));
  }
  if (parts.hash) found.push(invalidValue(field, parts.hash.slice(1), 'fragments are not permitted in the URL'));
  if (parts.search) {
    found.push(invalidValue(field, parts.search.slice(1), 'query parameters are not permitted in the URL'));
  }
  return found;
}

function validateClient({ url, service }: Webhook['clientConfig'], field: string): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(field, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateUrl(url, `${field}.url`);
  const at = `${field}.service`;
  const found: FieldError[] = [];
  if (!service?.name) found.push(required(`${at}.name`, 'service name is required'));
  if (!service?.namespace) found.push(required(`${at}.namespace`, 'service namespace is required'));
  const wrong = portNumber(service?.port ?? 0);
  if (wrong.length > 0)
    found.push(invalidValue(`${at}.port`, service?.port ?? 0, `port is not valid: ${wrong.join(', ')}`));
  if (service?.path && !service.path.startsWith('/')) {
    found.push(invalidValue(`${at}.path`, service.path, "must start with a '/'"));
  }
  return found;
}

function validateName(name: string, field: string): FieldError[] {
  if (!name) return [required(field)];
  const wrong = dns1123Subdomain(name);
  if (wrong.length > 0) return [invalidValue(field, name, wrong.join(','))];
  return name.split('.').length < 3
    ? [invalidValue(field, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function validateConditions(conditions: readonly { name: string; expression: string }[], field: string): FieldError[] {
  const names = new Set<string>();
  return conditions.flatMap(({ name, expression }, index) => {
    const at = `${field}[${index}]`;
    const found = expression.trim() ? [] : [required(`${at}.expression`)];
    if (!name) found.push(required(`${at}.name`));
    else {
      found.push(...invalidBy(`${at}.name`, name, qualifiedName(name)));
      if (names.has(name)) found.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    return found;
  });
}

const among = (field: string, value: string | undefined, supported: readonly string[]): FieldError[] =>
  value !== undefined && !supported.includes(value) ? [notSupported(field, value, supported)] : [];

function validateHook(hook: Webhook, field: string): FieldError[] {
  const found = [
    ...validateName(hook.name, `${field}.name`),
    ...(hook.rules ?? []).flatMap((rule, index) => validateRule(rule, `${field}.rules[${index}]`)),
    ...among(`${field}.failurePolicy`, hook.failurePolicy, failurePolicies),
    ...among(`${field}.matchPolicy`, hook.matchPolicy, matchPolicies),
  ];
  if (!hook.sideEffects) {
    found.push(required(`${field}.sideEffects`, `must specify one of ${sideEffects.join(', ')}`));
  } else found.push(...among(`${field}.sideEffects`, hook.sideEffects, sideEffects));
  const seconds = hook.timeoutSeconds;
  if (seconds !== undefined && (seconds > 30 || seconds < 1)) {
    found.push(invalidValue(`${field}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'));
  }
  return [
    ...found,
    ...validateSelector(hook.namespaceSelector, `${field}.namespaceSelector`),
    ...validateSelector(hook.objectSelector, `${field}.objectSelector`),
    ...among(`${field}.reinvocationPolicy`, hook.reinvocationPolicy, reinvocations),
    ...validateClient(hook.clientConfig, `${field}.clientConfig`),
    ...validateConditions(hook.matchConditions ?? [], `${field}.matchConditions`),
  ];
}

function validateVersions(versions: readonly string[] | null, field: string): FieldError[] {
  if (!versions?.length) return [required(field, `must specify one of ${reviewVersions.join(', ')}`)];
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) found.push(invalidValue(`${field}[${index}]`, version, 'duplicate version'));
    seen.add(version);
  }
  if (!versions.some((version) => reviewVersions.includes(version))) {
    found.push(invalidValue(field, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  }
  return found;
}

function validateHooks(object: KubeObject): FieldError[] {
  const names = new Set<string>();
  return hooksOf(object).flatMap((hook, index) => {
    const at = `webhooks[${index}]`;
    const found = [
      ...validateHook(hook, at),
      ...validateVersions(hook.admissionReviewVersions, `${at}.admissionReviewVersions`),
    ];
    if (hook.name && names.has(hook.name)) found.push(duplicate(`${at}.name`, hook.name));
    names.add(hook.name);
    return found;
  });
}

function matchDefaults(match: MatchResources): void {
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*';
}

const hookDefaults =
  (reinvoked: boolean) =>
  (object: KubeObject): void => {
    for (const hook of hooksOf(object)) {
      hook.failurePolicy ??= 'Fail';
      hook.matchPolicy ??= 'Equivalent';
      hook.namespaceSelector ??= {};
      hook.objectSelector ??= {};
      hook.timeoutSeconds ??= 10;
      if (reinvoked) hook.reinvocationPolicy ??= 'Never';
      if (hook.clientConfig.service) hook.clientConfig.service.port ??= 443;
      for (const rule of hook.rules ?? []) rule.scope ??= '*';
    }
  };

interface PolicySpec {
  paramKind?: { apiVersion?: string; kind?: string };
  matchConstraints?: MatchResources;
  validations?: { expression: string }[];
  auditAnnotations?: { key: string; valueExpression: string }[];
  failurePolicy?: string;
  matchConditions?: { name: string; expression: string }[];
}

function validateMatch(match: MatchResources, field: string, rulesNeeded: boolean): FieldError[] {
  const found = [
    ...among(`${field}.matchPolicy`, match.matchPolicy, matchPolicies),
    ...validateSelector(match.namespaceSelector, `${field}.namespaceSelector`),
    ...validateSelector(match.objectSelector, `${field}.objectSelector`),
    ...(match.resourceRules ?? []).flatMap((rule, index) => validateRule(rule, `${field}.resourceRules[${index}]`)),
  ];
  if (rulesNeeded && !match.resourceRules?.length) found.push(required(`${field}.resourceRules`));
  return found;
}

function validatePolicy(object: KubeObject): FieldError[] {
  const spec = object.spec as PolicySpec;
  const found = among('spec.failurePolicy', spec.failurePolicy, failurePolicies);
  if (spec.paramKind) {
    for (const member of ['apiVersion', 'kind'] as const) {
      if (!spec.paramKind[member]) found.push(required(`spec.paramKind.${member}`));
    }
  }
  if (!spec.matchConstraints) found.push(required('spec.matchConstraints'));
  else found.push(...validateMatch(spec.matchConstraints, 'spec.matchConstraints', true));
  found.push(...validateConditions(spec.matchConditions ?? [], 'spec.matchConditions'));
  const { validations = [], auditAnnotations = [] } = spec;
  if (validations.length + auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    found.push(required('spec.validations', detail), required('spec.auditAnnotations', detail));
  }
  for (const [index, { expression }] of validations.entries()) {
    if (!expression.trim())
      found.push(required(`spec.validations[${index}].expression`, 'expression is not specified'));
  }
  return found;
}

interface BindingSpec {
  policyName?: string;
  paramRef?: { name?: string; selector?: LabelSelector; parameterNotFoundAction?: string };
  matchResources?: MatchResources;
  validationActions?: string[];
}

const actions = ['Audit', 'Deny', 'Warn'];

function validateBinding(object: KubeObject): FieldError[] {
  const spec = object.spec as BindingSpec;
  const found: FieldError[] = [];
  if (!spec.policyName) found.push(required('spec.policyName'));
  else found.push(...invalidBy('spec.policyName', spec.policyName, dns1123Subdomain(spec.policyName)));
  if (spec.paramRef) {
    const { name, selector, parameterNotFoundAction } = spec.paramRef;
    if (name && selector) {
      found.push(forbiddenField('spec.paramRef.name', 'name and selector are mutually exclusive'));
    } else if (!name && !selector) {
      found.push(required('spec.paramRef', 'one of name or selector must be specified'));
    }
    if (!parameterNotFoundAction) found.push(required('spec.paramRef.parameterNotFoundAction'));
  }
  if (spec.matchResources) found.push(...validateMatch(spec.matchResources, 'spec.matchResources', false));
  const wanted = spec.validationActions ?? [];
  if (wanted.length === 0) {
    found.push(required('spec.validationActions', 'at least one validation action is required'));
  }
  for (const [index, action] of wanted.entries()) {
    const at = `spec.validationActions[${index}]`;
    if (!actions.includes(action)) found.push(notSupported(at, action, actions));
    if (wanted.indexOf(action) < index) found.push(duplicate(at, action));
  }
  if (wanted.includes('Deny') && wanted.includes('Warn')) {
    found.push(
      invalidValue(
        'spec.validationActions',
        wanted,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    );
  }
  return found;
}

export const admissionRegistrationTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    categories,
    namespaced: false,
    strategy: { defaults: hookDefaults(true), validate: validateHooks },
  }),
  declare(group, {
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    categories,
    namespaced: false,
    subresources: { status },
    strategy: {
      ...ownStatus,
      defaults(object) {
        const spec = object.spec as PolicySpec;
        spec.failurePolicy ??= 'Fail';
        if (spec.matchConstraints) matchDefaults(spec.matchConstraints);
      },
      validate: validatePolicy,
    },
  }),
  declare(group, {
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    categories,
    namespaced: false,
    strategy: {
      defaults(object) {
        const { matchResources } = object.spec as BindingSpec;
        if (matchResources) matchDefaults(matchResources);
      },
      validate: validateBinding,
    },
  }),
  declare(group, {
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    categories,
    namespaced: false,
    strategy: { defaults: hookDefaults(false), validate: validateHooks },
  }),
];
