// What becomes of simulated pods, as data: which pods a stage is for, how long it takes, what it leads to.
import { controllerOf } from '../controllers/hands.ts';
import type { Pod } from '../controllers/shapes.ts';
import { type Progress, progressOf } from './progress.ts';

/** Annotations by which a pod says what is to become of it. */
export const annotations = {
  /** The name of an outcome below. */
  outcome: 'simulation.kubernetes.local/outcome',
  /** Milliseconds before it, in place of the stage's own delay. */
  afterMs: 'simulation.kubernetes.local/after-ms',
  /** The exit code of `crash` and `fail`. */
  exitCode: 'simulation.kubernetes.local/exit-code',
  /** `off` on a node: somebody else runs it. `stopped`: its kubelet has gone silent. */
  kubelet: 'simulation.kubernetes.local/kubelet',
} as const;

/** What a stage does to a pod's status; outcomes.ts has a function for each. */
export type Outcome =
  | 'creating'
  | 'init-running'
  | 'init-completed'
  | 'running'
  | 'ready'
  | 'gates'
  | 'completed'
  | 'failed'
  | 'crashed'
  | 'restarted'
  | 'image-pull-error'
  | 'image-pull-backoff'
  | 'evicted'
  | 'stopped';

export interface StageDelay {
  readonly ms: number;
  /** As much more at random. */
  readonly jitterMs?: number;
  /** Takes this long at any pace. */
  readonly always?: boolean;
}

export interface Stage {
  readonly name: string;
  /** All that is given must hold. */
  readonly match: {
    readonly at: readonly Progress[];
    /** The pod's own wish, by annotation. Left out: any; null: none. */
    readonly outcome?: string | null;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    /** The kind of its controller. */
    readonly ownerKind?: string;
    readonly restartPolicy?: readonly string[];
  };
  /** `backoff` grows with every restart, as a kubelet's does; `grace` is what is left of the pod's. */
  readonly delay: StageDelay | 'backoff' | 'grace';
  readonly next: {
    readonly outcome?: Outcome;
    /** Removes the pod. */
    readonly delete?: true;
    readonly events?: readonly StageEvent[];
  };
}

export interface StageEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** `{container}`, `{image}` stand for those of each container. */
  readonly message: string;
}

function matches({ match }: Stage, pod: Pod, progress: Progress): boolean {
  if (!match.at.includes(progress)) return false;
  const own = pod.metadata.annotations ?? {};
  const wish = own[annotations.outcome];
  if (match.outcome === null && wish !== undefined) return false;
  if (typeof match.outcome === 'string' && wish !== match.outcome) return false;
  if (match.ownerKind !== undefined && controllerOf(pod)?.kind !== match.ownerKind) return false;
  if (match.restartPolicy && !match.restartPolicy.includes(pod.spec.restartPolicy ?? 'Always')) return false;
  const has = (wanted: Readonly<Record<string, string>>, there: Readonly<Record<string, string>>): boolean =>
    Object.entries(wanted).every(([name, value]) => there[name] === value);
  return has(match.labels ?? {}, pod.metadata.labels ?? {}) && has(match.annotations ?? {}, own);
}

/** The first stage that is for the pod as it is now. */
export function stageFor(stages: readonly Stage[], pod: Pod): Stage | undefined {
  const progress = progressOf(pod);
  return stages.find((stage) => matches(stage, pod, progress));
}
