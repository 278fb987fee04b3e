// Deployments within deployments: how deep, how many resources in all, and who waits for whom.
import { ArmError } from '../../../../arm/errors.ts';

/** Kept with a nested deployment. */
export interface Nested {
  /** Folded ids of the deployments around it, outermost first. */
  readonly ancestors: readonly string[];
  /** The run of the outermost one. */
  readonly root: string;
}

export interface Nesting {
  /** Says that the deployment with this id, which is about to be written, is nested. */
  announce(key: string, nested: Nested): void;
  /** What was announced of it; undefined for one that a client writes. */
  of(key: string): Nested | undefined;
  forget(key: string): void;
  /** Throws when a root and all that is nested in it has more resources than one deployment may cause. */
  count(root: string, resources: number): void;
  ended(root: string): void;
}

const depthMax = 10;
/** A template of few lines can nest loops in loops; each level alone would be within its limits. */
export const nestedResourcesMax = 10_000;

export function createNesting(resourcesMax = nestedResourcesMax): Nesting {
  const announced = new Map<string, Nested>();
  const counts = new Map<string, number>();
  return {
    announce(key, nested) {
      if (nested.ancestors.length > depthMax) {
        throw refusal(`Deployments are nested deeper than '${depthMax}' levels`);
      }
      announced.set(key, nested);
    },
    of: (key) => announced.get(key),
    forget: (key) => announced.delete(key),
    count(root, resources) {
      const sum = (counts.get(root) ?? 0) + resources;
      if (sum > resourcesMax)
        throw refusal(`A deployment and those nested in it have more than '${resourcesMax}' resources`);
      counts.set(root, sum);
    },
    ended: (root) => counts.delete(root),
  };
}

function refusal(message: string): ArmError {
  return new ArmError(400, 'InvalidTemplate', `Deployment template validation failed: '${message}.'.`);
}
