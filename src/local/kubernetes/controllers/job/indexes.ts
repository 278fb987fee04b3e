// Sets of completion indexes as a job's status writes them: `0,2-5`.

export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...indexes].sort((one, other) => one - other);
  const runs: [from: number, to: number][] = [];
  for (const index of sorted) {
    const last = runs.at(-1);
    if (last && last[1] + 1 === index) last[1] = index;
    else runs.push([index, index]);
  }
  return runs
    .map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`))
    .join(',');
}

export function parseIndexes(text: string | undefined): Set<number> {
  const found = new Set<number>();
  for (const run of (text ?? '').split(',')) {
    if (run === '') continue;
    const [from = 0, to = from] = run.split('-').map(Number);
    for (let index = from; index <= to; index += 1) found.add(index);
  }
  return found;
}
