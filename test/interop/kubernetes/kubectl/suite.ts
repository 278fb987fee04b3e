// The commands that people give daily, and what they were answered by a real server.
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubectlCase } from './case.ts';
import { accessCases } from './cases/access.ts';
import { applyCases } from './cases/apply.ts';
import { changeCases } from './cases/change.ts';
import { clusterCases } from './cases/cluster.ts';
import { createCases } from './cases/create.ts';
import { customCases } from './cases/custom.ts';
import { deleteCases } from './cases/delete.ts';
import { describeCases } from './cases/describe.ts';
import { getCases } from './cases/get.ts';
import { waitCases } from './cases/wait.ts';
import { workloadCases } from './cases/workloads.ts';
import { printOf, runCase, type Target, type Told } from './run-case.ts';

/** The cases, by the name of the file that holds their recording. */
export const groups: Readonly<Record<string, readonly KubectlCase[]>> = {
  get: getCases,
  describe: describeCases,
  create: createCases,
  apply: applyCases,
  change: changeCases,
  delete: deleteCases,
  wait: waitCases,
  workloads: workloadCases,
  access: accessCases,
  custom: customCases,
  cluster: clusterCases,
};

/**
 * What kubectl shall print of the embedded server where it printed this of the real one: the same, except that a request which is the
 * client's fault is refused as a bad request where the real server reports an internal error without a reason.
 */
export const expected = (told: Told): Told => ({
  ...told,
  err: told.err.map((line) =>
    line.replace(/^Error from server: (?=failed to create typed)/, 'Error from server (BadRequest): '),
  ),
});

export interface Recording {
  readonly name: string;
  readonly print: string;
  readonly told: readonly Told[];
}

const folder = join(import.meta.dirname, '..', 'recorded', 'kubectl');

/** The recordings of a group by case. */
export function recorded(group: string): ReadonlyMap<string, Recording> {
  const list = JSON.parse(readFileSync(join(folder, `${group}.json`), 'utf8')) as readonly Recording[];
  return new Map(list.map((recording) => [recording.name, recording]));
}

/** Puts recordings in place of those there are; one line for each command. */
export async function keep(group: string, recordings: readonly Recording[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const one = ({ name, print, told }: Recording): string =>
    `{"name":${JSON.stringify(name)},"print":"${print}","told":[\n${told.map((line) => JSON.stringify(line)).join(',\n')}\n]}`;
  writeFileSync(join(folder, `${group}.json`), `[\n${recordings.map(one).join(',\n')}\n]\n`);
}

/** Runs cases with a kubectl, three at a time; each answer is handed on as soon as it is there. */
export async function runCases(
  kubectl: string,
  target: Target,
  cases: readonly KubectlCase[],
  take: (tested: KubectlCase, outcome: Promise<Recording>) => Promise<void>,
): Promise<void> {
  const cache = await mkdtemp(join(tmpdir(), 'kubectl-cache-'));
  const waiting = cases.values();
  const work = async (): Promise<void> => {
    for (const tested of waiting) {
      const outcome = runCase(kubectl, target, tested, cache);
      await take(
        tested,
        outcome.then((told) => ({ name: tested.name, print: printOf(tested), told })),
      );
    }
  };
  try {
    await Promise.all([work(), work(), work()]);
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
}
