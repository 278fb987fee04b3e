/** A list that can be waited on. */
export interface Arrivals<T> {
  push(item: T): void;
  /** The next that fits, leaving out those before it. */
  next(fits?: (item: T) => boolean): Promise<T>;
  /** What has come and was not taken. */
  readonly items: readonly T[];
}

export function arrivals<T>(): Arrivals<T> {
  const items: T[] = [];
  let wake = (): void => {};
  return {
    items,
    push(item) {
      items.push(item);
      wake();
    },
    async next(fits = () => true) {
      for (;;) {
        for (let item = items.shift(); item !== undefined; item = items.shift()) if (fits(item)) return item;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
