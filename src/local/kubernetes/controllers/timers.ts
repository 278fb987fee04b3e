// Everything that is to be looked at later, for all clusters, behind one timer.

interface Timed<T> {
  readonly key: string;
  readonly due: number;
  readonly item: T;
}

export interface Timers<T> {
  /** Of several times for one key, the earliest counts. */
  add(key: string, item: T, due: number): void;
  /** Hands over what is due. */
  tick(): void;
  /** When the next one is due. */
  readonly next: number | undefined;
  readonly size: number;
  stop(): void;
}

/** The longest that a timer can wait. */
const longestTimerMs = 2 ** 31 - 1;

/** A heap of times and one timer for the earliest. `onDue` gets each item once its time has come by the clock `now`. */
export function createTimers<T>(now: () => number, onDue: (item: T) => void): Timers<T> {
  const heap: Timed<T>[] = [];
  const earliest = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let timerDue = Number.POSITIVE_INFINITY;

  const at = (index: number): Timed<T> => heap[index] as Timed<T>;
  const swap = (one: number, other: number): void => {
    const held = at(one);
    heap[one] = at(other);
    heap[other] = held;
  };

  function push(timed: Timed<T>): void {
    let index = heap.push(timed) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (at(parent).due <= at(index).due) break;
      swap(parent, index);
      index = parent;
    }
  }

  function pop(): Timed<T> | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && at(right).due < at(left).due ? right : left;
      if (at(index).due <= at(child).due) break;
      swap(index, child);
      index = child;
    }
    return first;
  }

  function arm(): void {
    const first = heap[0];
    if (first === undefined) {
      clearTimeout(timer);
      timer = undefined;
      timerDue = Number.POSITIVE_INFINITY;
      return;
    }
    if (timer !== undefined && timerDue === first.due) return;
    clearTimeout(timer);
    timerDue = first.due;
    timer = setTimeout(
      () => {
        timer = undefined;
        tick();
      },
      Math.min(Math.max(first.due - now(), 1), longestTimerMs),
    );
    timer.unref();
  }

  function tick(): void {
    const time = now();
    for (let first = heap[0]; first !== undefined && first.due <= time; first = heap[0]) {
      const timed = pop();
      // One that was put forward is in the heap twice; the later one no longer counts.
      if (!timed || earliest.get(timed.key) !== timed.due) continue;
      earliest.delete(timed.key);
      onDue(timed.item);
    }
    arm();
  }

  return {
    add(key, item, due) {
      const planned = earliest.get(key);
      if (planned !== undefined && planned <= due) return;
      earliest.set(key, due);
      push({ key, due, item });
      arm();
    },
    tick,
    get next() {
      return heap[0]?.due;
    },
    get size() {
      return earliest.size;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      heap.length = 0;
      earliest.clear();
    },
  };
}
