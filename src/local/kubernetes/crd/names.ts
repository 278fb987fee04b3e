// Which of the names that a definition asks for it gets: a name is free unless another definition of the group has it.
import type { Definition, DefinitionCondition, DefinitionNames } from './definition.ts';
import { isTrue, withCondition } from './definition.ts';

/** The names that other definitions of a group were granted. */
export interface NamesInUse {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export function namesInUse(granted: Iterable<DefinitionNames>): NamesInUse {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular, shortNames, kind, listKind } of granted) {
    for (const name of [plural, singular, ...(shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [kind, listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}

export interface Grant {
  readonly names: DefinitionNames;
  /** The last refusal; undefined when all names were granted. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

const taken = (name: string): string => `${JSON.stringify(name)} is already in use`;

/** Decides on the names that a definition asks for. What it cannot have stays as it was. */
export function grantNames(wanted: DefinitionNames, had: DefinitionNames, inUse: NamesInUse): Grant {
  const names: DefinitionNames = { ...had };
  let conflict: Grant['conflict'];
  const refuse = (reason: string, message: string): void => {
    conflict = { reason, message };
  };
  const { plural, singular = '', shortNames = [], kind, listKind = '', categories = [] } = wanted;
  if (inUse.resources.has(plural)) refuse('PluralConflict', taken(plural));
  else names.plural = plural;
  if (inUse.resources.has(singular)) refuse('SingularConflict', taken(singular));
  else names.singular = singular;
  const used = shortNames.filter((name) => inUse.resources.has(name));
  if (used.length > 0) refuse('ShortNamesConflict', used.map(taken).join(', '));
  else names.shortNames = shortNames;
  if (inUse.kinds.has(kind)) refuse('KindConflict', taken(kind));
  else names.kind = kind;
  if (inUse.kinds.has(listKind)) refuse('ListKindConflict', taken(listKind));
  else names.listKind = listKind;
  names.categories = categories;
  return { names: withoutEmpty(names), conflict };
}

function withoutEmpty({ plural, singular, shortNames, kind, listKind, categories }: DefinitionNames): DefinitionNames {
  return {
    plural,
    ...(singular ? { singular } : {}),
    ...(shortNames && shortNames.length > 0 ? { shortNames } : {}),
    kind,
    ...(listKind ? { listKind } : {}),
    ...(categories && categories.length > 0 ? { categories } : {}),
  };
}

const approvalAnnotation = 'api-approved.kubernetes.io';
export const isProtected = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

/** What the annotation of a group of the community says; undefined for other groups. */
export function approvalOf({
  spec,
  metadata,
}: Definition): { readonly state: 'approved' | 'bypassed' | 'missing' | 'invalid'; readonly text: string } | undefined {
  if (!isProtected(spec.group)) return undefined;
  const text = metadata.annotations?.[approvalAnnotation] ?? '';
  if (text === '') return { state: 'missing', text };
  if (text.startsWith('unapproved')) return { state: 'bypassed', text };
  return { state: /^https?:\/\/[^/]+/.test(text) ? 'approved' : 'invalid', text };
}

/** The conditions after a decision on names. */
export function conditionsAfter(definition: Definition, grant: Grant, now: string): DefinitionCondition[] {
  let conditions: DefinitionCondition[] = [...(definition.status?.conditions ?? [])];
  const set = (type: string, status: 'True' | 'False', reason: string, message: string): void => {
    conditions = withCondition(conditions, { type, status, reason, message }, now);
  };
  const approval = approvalOf(definition);
  if (approval?.state === 'approved') {
    const type = 'KubernetesAPIApprovalPolicyConformant';
    set(type, 'True', 'ApprovedAnnotation', `approved in ${approval.text}`);
  } else if (approval?.state === 'bypassed') {
    const type = 'KubernetesAPIApprovalPolicyConformant';
    set(type, 'False', 'UnapprovedAnnotation', `not approved: ${JSON.stringify(approval.text)}`);
  }
  if (grant.conflict) {
    set('NamesAccepted', 'False', grant.conflict.reason, grant.conflict.message);
    if (!isTrue(definition, 'Established')) {
      set('Established', 'False', 'NotAccepted', 'not all names are accepted');
    }
    return conditions;
  }
  set('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found');
  if (!isTrue(definition, 'Established')) {
    set('Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted');
  }
  return conditions;
}
