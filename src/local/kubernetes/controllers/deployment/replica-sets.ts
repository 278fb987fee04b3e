// The replica sets of a deployment: which is the new one, their revisions, and their sizes.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PodTemplate } from '../../types/pod/pod-spec.ts';
import { controllerReference, copyOf, type Hands, isAlreadyExists } from '../hands.ts';
import { deployments, replicaSets } from '../kinds.ts';
import { portion } from '../pods.ts';
import type { Deployment, ReplicaSet } from '../shapes.ts';
import { setProgress } from './status.ts';

export const hashLabel = 'pod-template-hash';
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
export const historyAnnotation = 'deployment.kubernetes.io/revision-history';
export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maximumAnnotation = 'deployment.kubernetes.io/max-replicas';

/** Annotations of a deployment that its replica sets have their own of, or none. */
const notCopied = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maximumAnnotation,
  'deprecated.deployment.rollback.to',
]);

export const sizeOf = ({ spec }: ReplicaSet): number => spec.replicas ?? 1;
export const totalOf = (sets: readonly ReplicaSet[]): number => sets.reduce((sum, set) => sum + sizeOf(set), 0);
export const availableOf = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
export const wantedBy = ({ spec }: Deployment): number => spec.replicas ?? 1;

export const isRolling = ({ spec }: Deployment): boolean => spec.strategy.type === 'RollingUpdate';

/** Pods beyond those wanted while an update rolls. */
export function maxSurge(deployment: Deployment): number {
  if (!isRolling(deployment)) return 0;
  return portion(deployment.spec.strategy.rollingUpdate?.maxSurge, wantedBy(deployment), Math.ceil);
}

/** Pods that may be missing while an update rolls. Never 0 together with the surge, or nothing would move. */
export function maxUnavailable(deployment: Deployment): number {
  const wanted = wantedBy(deployment);
  if (!isRolling(deployment) || wanted === 0) return 0;
  const asked = portion(deployment.spec.strategy.rollingUpdate?.maxUnavailable, wanted, Math.floor);
  const allowed = asked === 0 && maxSurge(deployment) === 0 ? 1 : asked;
  return Math.min(allowed, wanted);
}

export const byAge = (one: ReplicaSet, other: ReplicaSet): number => {
  const [first = '', second = ''] = [one.metadata.creationTimestamp, other.metadata.creationTimestamp];
  if (first !== second) return first < second ? -1 : 1;
  return (one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1;
};

function withoutHash({ metadata, spec }: PodTemplate): PodTemplate {
  const { [hashLabel]: _, ...labels } = metadata.labels ?? {};
  return { metadata: { ...metadata, labels }, spec };
}

const sameTemplate = (one: PodTemplate, other: PodTemplate): boolean =>
  isDeepStrictEqual(withoutHash(one), withoutHash(other));

/** The oldest replica set made of the deployment's template as it is now. */
export const newSetOf = (deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined =>
  [...sets].sort(byAge).find(({ spec }) => sameTemplate(spec.template, deployment.spec.template));

export const revisionOf = ({ metadata }: { metadata: { annotations?: Record<string, string> } }): number =>
  Number(metadata.annotations?.[revisionAnnotation] ?? 0) || 0;

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Ten characters that stand for a template. Letters and digits that make no words. */
export function templateHash(template: unknown, collisions = 0): string {
  const digest = createHash('sha256')
    .update(`${canonical(template)}/${collisions}`)
    .digest();
  let text = '';
  for (let index = 0; index < 10; index += 1) text += alphabet.charAt((digest[index] ?? 0) % alphabet.length);
  return text;
}

/** JSON with members in order, so that equal values have equal text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(',')}}`;
}

const sizeAnnotations = (deployment: Deployment): Record<string, string> => ({
  [desiredAnnotation]: String(wantedBy(deployment)),
  [maximumAnnotation]: String(wantedBy(deployment) + maxSurge(deployment)),
});

/** What a replica set's annotations are to be: the deployment's own, and its revision. */
function annotationsFor(deployment: Deployment, set: ReplicaSet | undefined, revision: number): Record<string, string> {
  const annotations = { ...set?.metadata.annotations };
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!notCopied.has(name)) annotations[name] = value;
  }
  const before = set ? revisionOf(set) : 0;
  if (before < revision) {
    annotations[revisionAnnotation] = String(revision);
    if (before > 0) {
      const history = annotations[historyAnnotation];
      annotations[historyAnnotation] = history ? `${history},${before}` : String(before);
    }
  }
  return annotations;
}

/** How large the new replica set may become now. */
export function newSize(deployment: Deployment, sets: readonly ReplicaSet[], newSet: ReplicaSet | undefined): number {
  const wanted = wantedBy(deployment);
  const size = newSet ? sizeOf(newSet) : 0;
  if (!isRolling(deployment)) return wanted;
  const room = wanted + maxSurge(deployment) - totalOf(sets);
  return room <= 0 ? size : size + Math.min(room, wanted - size);
}

/** The new replica set with its revision, made if it is missing and `create` is set. */
export async function ensureNewSet(
  hands: Hands,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  create: boolean,
): Promise<{ readonly newSet: ReplicaSet | undefined; readonly deployment: Deployment }> {
  const found = newSetOf(deployment, sets);
  const revision = Math.max(0, ...sets.filter((set) => set !== found).map(revisionOf)) + 1;
  if (found) {
    const annotations = annotationsFor(deployment, found, revision);
    const { minReadySeconds = 0 } = deployment.spec;
    let newSet = found;
    if (
      !isDeepStrictEqual(annotations, found.metadata.annotations ?? {}) ||
      minReadySeconds !== (found.spec.minReadySeconds ?? 0)
    ) {
      const changed = copyOf(found);
      changed.metadata.annotations = annotations;
      if (minReadySeconds > 0) changed.spec.minReadySeconds = minReadySeconds;
      else delete changed.spec.minReadySeconds;
      newSet = await hands.update(replicaSets, changed);
    }
    return { newSet, deployment: await setRevision(hands, deployment, newSet, 'FoundNewReplicaSet') };
  }
  if (!create) return { newSet: undefined, deployment };
  const newSet = await createSet(hands, deployment, sets, revision);
  if (!newSet) return { newSet, deployment };
  const size = sizeOf(newSet);
  if (size > 0) await tellScaled(hands, deployment, newSet, 0, size);
  return { newSet, deployment: await setRevision(hands, deployment, newSet, 'NewReplicaSetCreated') };
}

async function createSet(
  hands: Hands,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  revision: number,
): Promise<ReplicaSet | undefined> {
  const { template, selector, minReadySeconds } = deployment.spec;
  const { name = '', namespace = '' } = deployment.metadata;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata.labels, [hashLabel]: hash };
  try {
    return await hands.create(replicaSets, namespace, {
      metadata: {
        name: `${name}-${hash}`,
        labels,
        annotations: { ...annotationsFor(deployment, undefined, revision), ...sizeAnnotations(deployment) },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas: newSize(deployment, sets, undefined),
        ...(minReadySeconds ? { minReadySeconds } : {}),
        selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // A set of that name that is not ours, or of another template: the next attempt takes another name.
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await hands.setStatus(deployments, deployment, { ...deployment.status, collisionCount });
    return undefined;
  }
}

/** The deployment says which revision it is at, and that it got there. */
async function setRevision(
  hands: Hands,
  deployment: Deployment,
  newSet: ReplicaSet,
  reason: 'FoundNewReplicaSet' | 'NewReplicaSetCreated',
): Promise<Deployment> {
  const revision = newSet.metadata.annotations?.[revisionAnnotation] ?? '';
  const changed = copyOf(deployment);
  let different = false;
  if (revision && deployment.metadata.annotations?.[revisionAnnotation] !== revision) {
    changed.metadata.annotations = { ...deployment.metadata.annotations, [revisionAnnotation]: revision };
    different = true;
  }
  const progressing = deployment.status?.conditions?.some(({ type }) => type === 'Progressing') ?? false;
  if (deployment.spec.progressDeadlineSeconds !== undefined && (reason === 'NewReplicaSetCreated' || !progressing)) {
    const name = newSet.metadata.name ?? '';
    const message =
      reason === 'NewReplicaSetCreated' ? `Created new replica set "${name}"` : `Found new replica set "${name}"`;
    changed.status = {
      ...deployment.status,
      conditions: setProgress(deployment.status?.conditions, { status: 'True', reason, message }, hands.timestamp()),
    };
    different = true;
  }
  return different ? hands.update(deployments, changed, 'status') : deployment;
}

const tellScaled = (hands: Hands, deployment: Deployment, set: ReplicaSet, from: number, to: number): Promise<void> =>
  hands.event(
    deployment,
    'Normal',
    'ScalingReplicaSet',
    `Scaled ${to < from ? 'down' : 'up'} replica set ${set.metadata.name} from ${from} to ${to}`,
  );

/** Sets the size of a replica set, and what it is to know about the deployment's size. */
export async function resize(hands: Hands, deployment: Deployment, set: ReplicaSet, to: number): Promise<ReplicaSet> {
  const from = sizeOf(set);
  const annotations = { ...set.metadata.annotations, ...sizeAnnotations(deployment) };
  if (from === to && isDeepStrictEqual(annotations, set.metadata.annotations)) return set;
  const changed = copyOf(set);
  changed.metadata.annotations = annotations;
  changed.spec.replicas = to;
  const stored = await hands.update(replicaSets, changed);
  if (from !== to) await tellScaled(hands, deployment, set, from, to);
  return stored;
}
