// One conformance suite for two servers: the cases, how their answers are recorded, and where the embedded server is known to
// answer otherwise.
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { accessCases } from './cases/access.ts';
import { accessRefusalCases } from './cases/access-refusals.ts';
import { admissionCases } from './cases/admission.ts';
import { apiServiceCases } from './cases/api-services.ts';
import { applyCases } from './cases/apply.ts';
import type { Case, Json, JsonMap } from './cases/case.ts';
import { createCases } from './cases/create.ts';
import { deleteCases } from './cases/delete.ts';
import { deprecationCases } from './cases/deprecation.ts';
import { discoveryCases } from './cases/discovery.ts';
import { expiredCases } from './cases/expired.ts';
import { inputCases } from './cases/input.ts';
import { listCases } from './cases/list.ts';
import { patchCases } from './cases/patch.ts';
import { refusalWordCases } from './cases/refusal-words.ts';
import { printOf, runCase, type Told } from './cases/run-case.ts';
import { shapeCases } from './cases/shapes.ts';
import { streamCases } from './cases/streams.ts';
import { subresourceCases } from './cases/subresources.ts';
import { updateCases } from './cases/update.ts';
import { watchCases } from './cases/watch.ts';
import type { Wire } from './cases/wire.ts';

/** The cases, by the name of the file that holds their recording. */
export const groups: Readonly<Record<string, readonly Case[]>> = {
  create: createCases,
  list: listCases,
  watch: watchCases,
  update: updateCases,
  patch: patchCases,
  apply: applyCases,
  delete: deleteCases,
  subresources: subresourceCases,
  streams: streamCases,
  shapes: shapeCases,
  discovery: discoveryCases,
  'api-services': apiServiceCases,
  access: accessCases,
  'access-refusals': accessRefusalCases,
  admission: admissionCases,
  input: inputCases,
  'refusal-words': refusalWordCases,
  deprecation: deprecationCases,
  expired: expiredCases,
};

/** Groups for which the embedded server is one that has been started before. */
export const startedAgain: ReadonlySet<string> = new Set(['expired']);

/** Cases by the reason for which they differ. */
const known: Readonly<Record<string, readonly string[]>> = {
  'a change that is refused is not shown as a text of differences between Go structs': [
    'update of a pod',
    'update of a claim',
    'patch of a pod that cannot be',
  ],
  'a value that may not change is quoted as JSON, not as a Go struct': ['update of a job'],
};

/**
 * Cases in which the embedded server is known to answer otherwise, with the reason. docs/embedded-kubernetes.md repeats them in
 * words. A case whose difference has gone fails until it is taken from here.
 */
export const differences: ReadonlyMap<string, string> = new Map(
  Object.entries(known).flatMap(([reason, names]) => names.map((name) => [name, reason])),
);

/**
 * What the embedded server shall answer where the real one answered this: the same, except that a request which is the client's
 * fault is refused with 400 where the real server reports an internal error without a reason.
 */
export function expected(told: Told): Told {
  const { body } = told;
  if (told.status !== 500 || (isMap(body) && body.reason !== undefined)) return told;
  const refused = (status: Json): Json =>
    isMap(status) && status.reason === undefined ? { ...status, code: 400, reason: 'BadRequest' } : status;
  return { ...told, status: 400, body: Array.isArray(body) ? body.map(refused) : refused(body) };
}

const isMap = (value: Json): value is JsonMap => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the real server answered, and to which requests. */
export interface Recording {
  readonly name: string;
  readonly print: string;
  readonly told: readonly Told[];
}

const folder = join(import.meta.dirname, 'recorded', 'conformance');

/** The recordings of a group by case. */
export function recorded(group: string): ReadonlyMap<string, Recording> {
  const list = JSON.parse(readFileSync(join(folder, `${group}.json`), 'utf8')) as readonly Recording[];
  return new Map(list.map((recording) => [recording.name, recording]));
}

/** Puts recordings of groups in place of those there are; one line for each case. Files of groups that are no more go. */
export async function keep(recordings: Readonly<Record<string, readonly Recording[]>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const file of await readdir(folder)) if (!(basename(file, '.json') in groups)) await rm(join(folder, file));
  for (const [group, list] of Object.entries(recordings)) {
    await writeFile(join(folder, `${group}.json`), `[\n${list.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
  }
}

const pins = join(import.meta.dirname, 'recorded', 'differences.json');

/** What the embedded server answers where it is known to answer otherwise, by case. */
export function pinned(): ReadonlyMap<string, readonly Told[]> {
  return new Map(Object.entries(JSON.parse(readFileSync(pins, 'utf8')) as Record<string, readonly Told[]>));
}

/** Puts such answers in place of those there are. */
export async function pin(answers: ReadonlyMap<string, readonly Told[]>): Promise<void> {
  const lines = [...answers].map(([name, told]) => `${JSON.stringify(name)}: ${JSON.stringify(told)}`);
  await writeFile(pins, `{\n${lines.join(',\n')}\n}\n`);
}

/** Asks a server everything a group asks, one case after the other. Throws at the end for all cases that could not be run. */
export async function record(wire: Wire, cases: readonly Case[]): Promise<readonly Recording[]> {
  const made: Recording[] = [];
  const failed: unknown[] = [];
  for (const one of cases) {
    try {
      made.push({ name: one.name, print: printOf(one), told: await runCase(wire, one) });
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, failed.map(String).join('\n'));
  return made;
}
