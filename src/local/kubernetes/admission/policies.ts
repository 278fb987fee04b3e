// Admission by policies in CEL: no call to anybody, so it runs within the commit.
import { selects } from '../access/aggregation.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/admission.ts';
import { StatusError } from '../status.ts';
import { reviewRequest } from './admission-review.ts';
import { type CompileExpression, celValue } from './expressions.ts';
import { refused } from './pod.ts';
import {
  bindingStorage,
  type Compiled,
  type ParamRef,
  type Policy,
  type PolicyBinding,
  policyReader,
  policyStorage,
  resourcesMatch,
  rulesMatch,
  type Validation,
} from './policy-definitions.ts';
import { isExempt } from './webhook-configurations.ts';

interface Denial {
  readonly message: string;
  readonly reason: string;
}

export function policyPlugin(compile: CompileExpression): AdmissionPlugin {
  const reader = policyReader(compile);
  return {
    name: 'ValidatingAdmissionPolicy',
    waits: false,
    concerns: (target, { cluster }) =>
      cluster.objects.count(policyStorage) > 0 &&
      cluster.objects.count(bindingStorage) > 0 &&
      !isExempt(target.type) &&
      reader.policies(cluster).some(({ matches }) => rulesMatch(matches, target, cluster)),
    validate(request) {
      const { cluster } = request.context;
      for (const policy of reader.policies(cluster)) {
        if (!resourcesMatch(policy.matches, request) || !rulesMatch(policy.matches, request, cluster)) continue;
        const bindings = reader.bindings(cluster, policy.name);
        if (bindings.length === 0) continue;
        const known = bindingsOf(request);
        for (const binding of bindings) {
          if (binding.matches && !resourcesMatch(binding.matches, request)) continue;
          for (const denial of denials(policy, binding, request, known)) act(denial, policy, binding, request);
        }
      }
    },
  };
}

function act({ message, reason }: Denial, policy: Policy, binding: PolicyBinding, request: AdmissionRequest): void {
  const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
  if (binding.actions.includes('Warn')) request.context.warn(`Validation failed for ${who}: ${message}`);
  if (!binding.actions.includes('Deny')) return;
  const text = `${who} denied request: ${message}`;
  const { status } = refused(request, text);
  const wire = reason === '' ? 'Invalid' : reason;
  throw new StatusError(codes[wire] ?? 422, wire, status.message ?? text, {
    ...status.details,
    causes: [{ message: text }],
  });
}

const codes: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

type Bindings = Readonly<Record<string, unknown>>;

function bindingsOf(request: AdmissionRequest): Bindings {
  const { object, oldObject, ...rest } = reviewRequest(request);
  const { cluster } = request.context;
  const namespace = request.type.namespaced ? cluster.objects.get('/namespaces', '', request.namespace) : undefined;
  return {
    object: celValue(object),
    oldObject: celValue(oldObject),
    request: celValue(rest),
    namespaceObject: namespace ? celValue(JSON.parse(namespace.bytes.toString())) : null,
  };
}

function denials(policy: Policy, binding: PolicyBinding, request: AdmissionRequest, known: Bindings): Denial[] {
  const params = paramsOf(policy, binding.paramRef, request);
  if (typeof params === 'string') {
    return policy.failurePolicy === 'Ignore' ? [] : [{ message: `failed to configure binding: ${params}`, reason: '' }];
  }
  return params.flatMap((param) => {
    const bindings: Record<string, unknown> = { ...known, params: param };
    bindings.variables = lazyVariables(policy, bindings);
    const met = conditionsMet(policy, bindings);
    if (met !== true) return met === false || policy.failurePolicy === 'Ignore' ? [] : [{ message: met, reason: '' }];
    return policy.validations.flatMap((validation) => judged(validation, bindings, policy.failurePolicy) ?? []);
  });
}

/** True or false, or the text of an error; a condition that does not hold decides whatever others say. */
function conditionsMet(policy: Policy, bindings: Bindings): boolean | string {
  let failed: string | undefined;
  for (const { expression } of policy.conditions) {
    try {
      if (expression.evaluate(bindings) !== true) return false;
    } catch (error) {
      failed ??= errorText(expression, error);
    }
  }
  return failed ?? true;
}

function judged(validation: Validation, bindings: Bindings, failurePolicy: string): Denial | undefined {
  const { expression, reason } = validation;
  try {
    if (expression.evaluate(bindings) === true) return undefined;
  } catch (error) {
    return failurePolicy === 'Ignore' ? undefined : { message: errorText(expression, error), reason };
  }
  return { message: messageOf(validation, bindings), reason };
}

function messageOf({ expression, message, messageExpression }: Validation, bindings: Bindings): string {
  try {
    const said = messageExpression?.evaluate(bindings);
    if (typeof said === 'string' && said.trim() !== '' && !said.includes('\n')) return said.trim();
  } catch {
    // A message that cannot be made gives way to the one that is written down.
  }
  return message.trim() || `failed expression: ${expression.text.trim()}`;
}

const errorText = ({ text }: Compiled, error: unknown): string =>
  `expression '${text}' resulted in error: ${error instanceof Error ? error.message : String(error)}`;

/** Variables are worked out when first asked for, and once. */
function lazyVariables(policy: Policy, bindings: Bindings): object {
  const variables = {};
  for (const { name, expression } of policy.variables) {
    let made: { readonly value: unknown } | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      get() {
        made ??= { value: expression.evaluate(bindings) };
        return made.value;
      },
    });
  }
  return variables;
}

/** The parameters to judge with, each alone; the text of an error when there are none and that is not allowed. */
function paramsOf(policy: Policy, ref: ParamRef | undefined, request: AdmissionRequest): readonly unknown[] | string {
  if (!policy.paramKind || !ref) return [null];
  const { cluster } = request.context;
  const { apiVersion, kind } = policy.paramKind;
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
  const type = cluster.types.findKind(group, version, kind);
  if (!type) return `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`;
  const namespace = type.namespaced ? ref.namespace || request.namespace : '';
  const { name, selector } = ref;
  const entries =
    name === undefined || name === ''
      ? cluster.objects
          .list(type.storage, { namespace })
          .filter(({ labels }) => selector && selects(selector, labels ?? {}))
      : [cluster.objects.get(type.storage, namespace, name) ?? []].flat();
  if (entries.length > 0) return entries.map((entry) => celValue(JSON.parse(entry.bytes.toString())));
  if (ref.parameterNotFoundAction === 'Allow') return [];
  return 'no params found for policy binding with `Deny` parameterNotFoundAction';
}
