// Who may commit beside whom. A write that names other resources must not commit between the look for users of one of them and
// its removal. Etags cannot tell: the user's write changes nothing about the resource it uses.

export interface Gate {
  /** Runs beside others that share, never beside one that is alone. */
  shared<T>(run: () => Promise<T>): Promise<T>;
  /** Runs alone. Neither may be asked for from inside the other. */
  exclusive<T>(run: () => Promise<T>): Promise<T>;
}

/** In the order of asking, so nobody waits for ever. One process owns the state, so memory is enough. */
export function createGate(): Gate {
  let sharing = 0;
  let isAlone = false;
  const waiting: { readonly alone: boolean; readonly enter: () => void }[] = [];

  const admit = (): void => {
    for (let next = waiting[0]; next !== undefined && !isAlone; next = waiting[0]) {
      if (next.alone && sharing > 0) return;
      waiting.shift();
      if (next.alone) isAlone = true;
      else sharing++;
      next.enter();
    }
  };
  const enter = (alone: boolean): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ alone, enter: resolve });
      admit();
    });

  return {
    async shared(run) {
      await enter(false);
      try {
        return await run();
      } finally {
        sharing--;
        admit();
      }
    },
    async exclusive(run) {
      await enter(true);
      try {
        return await run();
      } finally {
        isAlone = false;
        admit();
      }
    },
  };
}
