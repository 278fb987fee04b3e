// Conditions of a status, by the rules of metav1.Condition.
import { timeText } from './time.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
  /** One word in CamelCase for programs. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
  /** The generation that this was said of. */
  readonly observedGeneration?: number;
}

export type NewCondition = Omit<Condition, 'lastTransitionTime'> & Partial<Pick<Condition, 'lastTransitionTime'>>;

type Conditions = readonly Condition[] | undefined;

const reasonForm = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/**
 * The conditions with this one in its place, or at the end. `lastTransitionTime` changes only when `status` does. Members that
 * the condition had and this program does not know stay. Returns the very list it got when nothing changes, so that `===`
 * tells whether there is anything to write. Throws TypeError for a reason that the server would refuse.
 */
export function withCondition(conditions: Conditions, next: NewCondition, now = Date.now()): readonly Condition[] {
  if (!reasonForm.test(next.reason)) {
    throw new TypeError(`condition ${next.type}: the reason ${JSON.stringify(next.reason)} is not one word`);
  }
  const list = conditions ?? [];
  const at = list.findIndex(({ type }) => type === next.type);
  const old = list[at];
  const time = next.lastTransitionTime ?? timeText(now);
  if (!old) return [...list, { ...next, lastTransitionTime: time }];
  const changed: Condition = {
    ...old,
    ...next,
    lastTransitionTime: old.status === next.status ? old.lastTransitionTime : time,
  };
  const same =
    old.status === changed.status &&
    old.reason === changed.reason &&
    old.message === changed.message &&
    old.observedGeneration === changed.observedGeneration;
  return same ? list : list.with(at, changed);
}

/** The conditions without this one; the very list it got when it was not there. */
export function withoutCondition(conditions: Conditions, type: string): readonly Condition[] {
  const list = conditions ?? [];
  return list.some((each) => each.type === type) ? list.filter((each) => each.type !== type) : list;
}

export function findCondition(conditions: Conditions, type: string): Condition | undefined {
  return conditions?.find((each) => each.type === type);
}

export function isConditionTrue(conditions: Conditions, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}
