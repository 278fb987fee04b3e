/** First in, first out within each lane; lanes that have something take turns, so that a long one does not hold up a short one. */
export class LanedFifo<T> {
  /** In the order of their turns: a lane that has had its turn goes to the end. */
  readonly #lanes = new Map<string, Fifo<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(lane: string, item: T): void {
    const items = this.#lanes.get(lane);
    if (items) items.push(item);
    else this.#lanes.set(lane, new Fifo(item));
    this.#size++;
  }

  shift(): T | undefined {
    for (const [lane, items] of this.#lanes) {
      const item = items.shift();
      this.#size--;
      if (items.size === 0) this.#lanes.delete(lane);
      else if (this.#lanes.size > 1) {
        this.#lanes.delete(lane);
        this.#lanes.set(lane, items);
      }
      return item;
    }
    return undefined;
  }

  clear(): void {
    this.#lanes.clear();
    this.#size = 0;
  }
}

const shrinkAt = 1024;

/** Array.shift moves everything that follows; this one moves it once in a while. */
class Fifo<T> {
  #items: (T | undefined)[];
  #head = 0;

  constructor(first: T) {
    this.#items = [first];
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head > shrinkAt && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
