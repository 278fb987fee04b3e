// The history of templates that stateful and daemon sets keep as controller revisions.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../object.ts';
import type { LabelSelector, PodTemplate } from '../types/pod/pod-spec.ts';
import { templateHash } from './deployment/replica-sets.ts';
import { controllerReference, copyOf, type Hands, isAlreadyExists } from './hands.ts';
import { controllerRevisions } from './kinds.ts';
import { claim } from './selection.ts';
import type { ControllerRevision } from './shapes.ts';

type Owner = KubeObject & { spec: { template: PodTemplate; selector: LabelSelector } };

const dataOf = (template: PodTemplate) => ({ spec: { template: { ...template, $patch: 'replace' } } });

/** The template that a revision keeps. */
export const templateOf = ({ data }: ControllerRevision): PodTemplate => {
  const { $patch: _, ...template } = (data as ReturnType<typeof dataOf>).spec.template;
  return template;
};

export interface History {
  /** Oldest first. */
  readonly revisions: readonly ControllerRevision[];
  /** The one of the template as it is now. */
  readonly update: ControllerRevision;
}

/** The owner's revisions, with one for its template as it is now. `label` is what the hash is kept under. */
export async function historyOf(hands: Hands, owner: Owner, label: string): Promise<History> {
  const { name = '', namespace = '' } = owner.metadata;
  const { template, selector } = owner.spec;
  const found = await claim(hands, controllerRevisions, owner, selector);
  const revisions = found.sort((one, other) => one.revision - other.revision);
  const data = dataOf(template);
  const newest = revisions.at(-1);
  const equal = revisions.findLast((revision) => isDeepStrictEqual(revision.data, data));
  if (equal && equal === newest) return { revisions, update: equal };
  const revision = (newest?.revision ?? 0) + 1;
  if (equal) {
    const update = await hands.update(controllerRevisions, { ...copyOf(equal), revision });
    return { revisions: [...revisions.filter((each) => each !== equal), update], update };
  }
  for (let collisions = 0; ; collisions += 1) {
    const hash = templateHash(template, collisions);
    try {
      const update = await hands.create(controllerRevisions, namespace, {
        metadata: {
          name: `${name}-${hash}`,
          labels: { ...template.metadata.labels, [label]: hash },
          ...(owner.metadata.annotations ? { annotations: withoutApplied(owner.metadata.annotations) } : {}),
          ownerReferences: [controllerReference(owner)],
        },
        data,
        revision,
      });
      return { revisions: [...revisions, update], update };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

const withoutApplied = (annotations: Record<string, string>): Record<string, string> => {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...rest } = annotations;
  return rest;
};

/** Forgets revisions beyond the limit that nothing uses. */
export async function forgetRevisions(
  hands: Hands,
  { revisions }: History,
  limit: number,
  inUse: ReadonlySet<string>,
): Promise<void> {
  const unused = revisions.filter(({ metadata }) => !inUse.has(metadata.name ?? ''));
  for (const revision of unused.slice(0, Math.max(0, unused.length - limit))) {
    await hands.remove(controllerRevisions, revision);
  }
}
