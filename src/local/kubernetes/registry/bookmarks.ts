// One timer for the bookmarks of all watches of the process; it runs only while there are any.

const bookmarkSeconds = 60;

const due = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

/** Calls `send` every minute until the function returned is called. */
export function addBookmarked(send: () => void): () => void {
  // A function of its own for each watch, so that the set tells them apart.
  const own = (): void => send();
  due.add(own);
  timer ??= setInterval(() => {
    for (const bookmark of due) bookmark();
  }, bookmarkSeconds * 1000).unref();
  return () => {
    due.delete(own);
    if (due.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
