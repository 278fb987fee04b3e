// Pods that must be spread evenly over hosts, zones or other domains.
import type { LabelSelector } from '../../types/pod/pod-spec.ts';
import { selects } from '../../types/selectors.ts';
import type { Node, Pod } from '../shapes.ts';
import type { Misfit, Placed } from './fit.ts';
import { untolerated, wantsNode } from './node-affinity.ts';

interface Constraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
  readonly matchLabelKeys?: readonly string[];
}

/** What spreading has against a node; undefined where it has nothing. */
export type SpreadCheck = (node: Node) => Misfit | undefined;

const reason = "node(s) didn't match pod topology spread constraints";

/** The constraints of a pod that must be met. */
export const spreadConstraints = ({ spec }: Pod): readonly Constraint[] =>
  ((spec.topologySpreadConstraints ?? []) as readonly Constraint[]).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  );

function counts({ labelSelector, matchLabelKeys = [] }: Constraint, pod: Pod, other: Pod): boolean {
  if (!labelSelector || other.metadata.namespace !== pod.metadata.namespace) return false;
  const [own, theirs] = [pod.metadata.labels ?? {}, other.metadata.labels ?? {}];
  return selects(labelSelector, theirs) && matchLabelKeys.every((key) => own[key] === theirs[key]);
}

/** Whether a node is one of those over which a constraint spreads. */
function isDomain(constraint: Constraint, pod: Pod, node: Node): boolean {
  if (constraint.nodeAffinityPolicy !== 'Ignore' && !wantsNode(pod, node)) return false;
  return constraint.nodeTaintsPolicy !== 'Honor' || untolerated(pod, node) === undefined;
}

/** Counts once what there is; the check itself is quick. */
export function spreadCheck(pod: Pod, nodes: readonly Node[], placed: readonly Placed[]): SpreadCheck {
  const constraints = spreadConstraints(pod);
  if (constraints.length === 0) return () => undefined;
  const whole = nodes.filter(({ metadata }) =>
    constraints.every(({ topologyKey }) => metadata.labels?.[topologyKey] !== undefined),
  );
  const judged = constraints.map((constraint) => {
    const { topologyKey, minDomains = 1 } = constraint;
    const domains = new Map<string, number>();
    const among = new Set<string>();
    for (const node of whole) {
      if (!isDomain(constraint, pod, node)) continue;
      among.add(node.metadata.name ?? '');
      const domain = node.metadata.labels?.[topologyKey] ?? '';
      domains.set(domain, domains.get(domain) ?? 0);
    }
    for (const { pod: other, node } of placed) {
      if (!among.has(node.metadata.name ?? '') || other.metadata.deletionTimestamp) continue;
      const domain = node.metadata.labels?.[topologyKey] ?? '';
      if (counts(constraint, pod, other)) domains.set(domain, (domains.get(domain) ?? 0) + 1);
    }
    const least = domains.size < minDomains ? 0 : Math.min(...domains.values());
    return { constraint, domains, least, self: counts(constraint, pod, pod) ? 1 : 0 };
  });
  return ({ metadata }) => {
    for (const { constraint, domains, least, self } of judged) {
      const domain = metadata.labels?.[constraint.topologyKey];
      if (domain === undefined) return { reason: `${reason} (missing required label)`, preemptable: false };
      if ((domains.get(domain) ?? 0) + self - (Number.isFinite(least) ? least : 0) > constraint.maxSkew) {
        return { reason, preemptable: true };
      }
    }
    return undefined;
  };
}
