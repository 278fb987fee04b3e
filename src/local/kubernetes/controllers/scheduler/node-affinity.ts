// Whether a pod wants a node, and whether it bears a node's taints.
import type { NodeSelectorTerm, Toleration } from '../../types/pod/pod-spec.ts';
import type { Node, Pod, Taint } from '../shapes.ts';

type Requirement = { key: string; operator: string; values?: string[] };

function holds(value: string | undefined, { operator, values = [] }: Requirement): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** A term without requirements matches nothing. */
function matchesTerm({ metadata }: Node, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(metadata.labels?.[requirement.key], requirement)) &&
    matchFields.every((requirement) => requirement.key === 'metadata.name' && holds(metadata.name, requirement))
  );
}

/** Whether node selector and required affinity allow the node. */
export function wantsNode({ spec }: Pod, node: Node): boolean {
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    if (node.metadata.labels?.[key] !== value) return false;
  }
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(node, term));
}

/** How much the preferred affinity speaks for the node. */
export function preference({ spec }: Pod, node: Node): number {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce((sum, { weight, preference: term }) => sum + (matchesTerm(node, term) ? weight : 0), 0);
}

export function tolerates(
  { key = '', operator = 'Equal', value = '', effect = '' }: Toleration,
  taint: Taint,
): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return key !== '' && value === (taint.value ?? '');
}

const keepsOut = new Set(['NoSchedule', 'NoExecute']);

/** The first taint of the node that the pod does not bear. */
export const untolerated = ({ spec }: Pod, node: Node): Taint | undefined =>
  (node.spec.taints ?? []).find(
    (taint) =>
      keepsOut.has(taint.effect) && !(spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint)),
  );
