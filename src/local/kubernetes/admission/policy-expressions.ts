// Expressions of policies and webhooks are compiled when they are declared: one that cannot be is refused, with what is wrong.
import type { KubeObject } from '../object.ts';
import type { AdmissionPlugin } from '../registry/admission.ts';
import { invalidValue, notSupported } from '../schema/field-errors.ts';
import { type FieldError, invalid } from '../status.ts';
import type { Expression } from './expressions.ts';
import { webhookConditions } from './match-conditions.ts';
import { expressionsOf, type PolicySpec, policyStorage } from './policy-definitions.ts';
import { mutatingStorage, validatingStorage, type Webhook } from './webhook-configurations.ts';

const problem = (field: string, expression: Expression | undefined): FieldError[] =>
  expression?.problem === undefined ? [] : [invalidValue(field, expression.text, expression.problem)];

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const notEmpty = 'must be non-empty if specified';

function ofMessages(
  { message = '', messageExpression = '', reason }: NonNullable<PolicySpec['validations']>[number],
  field: string,
): FieldError[] {
  const isBlank = (text: string): boolean => text !== '' && text.trim() === '';
  return [
    ...(isBlank(messageExpression) ? [invalidValue(`${field}.messageExpression`, messageExpression, notEmpty)] : []),
    ...(isBlank(message) ? [invalidValue(`${field}.message`, message, notEmpty)] : []),
    ...(/[\r\n]/.test(message.trim())
      ? [invalidValue(`${field}.message`, message, 'must not contain line breaks')]
      : []),
    ...(reason !== undefined && !reasons.includes(reason) ? [notSupported(`${field}.reason`, reason, reasons)] : []),
  ];
}

function ofPolicy(object: KubeObject): FieldError[] {
  const spec = (object.spec ?? {}) as PolicySpec;
  const { variables, conditions, validations, annotations } = expressionsOf(spec);
  return [
    ...variables.flatMap(({ expression }, index) => problem(`spec.variables[${index}].expression`, expression)),
    ...conditions.flatMap(({ expression }, index) => problem(`spec.matchConditions[${index}].expression`, expression)),
    ...validations.flatMap(({ expression, messageExpression }, index) => [
      ...problem(`spec.validations[${index}].expression`, expression),
      ...problem(`spec.validations[${index}].messageExpression`, messageExpression),
      ...ofMessages(spec.validations?.[index] ?? { expression: '' }, `spec.validations[${index}]`),
    ]),
    ...annotations.flatMap(({ expression }, index) =>
      problem(`spec.auditAnnotations[${index}].valueExpression`, expression),
    ),
  ];
}

const ofWebhooks = ({ webhooks }: KubeObject): FieldError[] =>
  ((webhooks ?? []) as readonly Webhook[]).flatMap(({ matchConditions = [] }, at) =>
    webhookConditions(matchConditions).flatMap((condition, index) =>
      problem(`webhooks[${at}].matchConditions[${index}].expression`, condition),
    ),
  );

const checks: Readonly<Record<string, (object: KubeObject) => FieldError[]>> = {
  [policyStorage]: ofPolicy,
  [mutatingStorage]: ofWebhooks,
  [validatingStorage]: ofWebhooks,
};

/** Refuses with StatusError 422. */
export const expressionsPlugin: AdmissionPlugin = {
  name: 'AdmissionExpressions',
  waits: false,
  concerns: ({ operation, type, subresource }) =>
    operation !== 'DELETE' && subresource === '' && Object.hasOwn(checks, type.storage),
  validate({ type, object }) {
    const errors = object ? (checks[type.storage]?.(object) ?? []) : [];
    if (errors.length > 0) throw invalid({ group: type.group, kind: type.kind }, object?.metadata.name ?? '', errors);
  },
};
