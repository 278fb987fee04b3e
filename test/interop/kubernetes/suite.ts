// One conformance suite for two servers: the cases, how their answers are recorded, and where the embedded server is known to
// answer otherwise.
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { accessCases } from './cases/access.ts';
import { accessRefusalCases } from './cases/access-refusals.ts';
import { admissionCases } from './cases/admission.ts';
import { applyCases } from './cases/apply.ts';
import type { Case, Json, JsonMap } from './cases/case.ts';
import { createCases } from './cases/create.ts';
import { deleteCases } from './cases/delete.ts';
import { discoveryCases } from './cases/discovery.ts';
import { inputCases } from './cases/input.ts';
import { listCases } from './cases/list.ts';
import { patchCases } from './cases/patch.ts';
import { printOf, runCase, type Told } from './cases/run-case.ts';
import { shapeCases } from './cases/shapes.ts';
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
  shapes: shapeCases,
  discovery: discoveryCases,
  access: accessCases,
  'access-refusals': accessRefusalCases,
  admission: admissionCases,
  input: inputCases,
};

/** Cases by the reason for which they differ. */
const known: Readonly<Record<string, readonly string[]>> = {
  'a change that is refused is not shown as a text of differences': [
    'update of a pod',
    'update of a claim',
    'patch of a pod that cannot be',
  ],
  'the words of the YAML parser are those of another parser': [
    'YAML that repeats itself',
    'YAML that is none',
    'apply of a broken text',
    'apply of a list',
  ],
  'the words for values of a wrong type in options and patches are not those of Go': [
    'delete with options of a wrong type',
    'strategic patch of a wrong type',
    'merge patch of a kind',
    'page after nothing known',
    'field manager that cannot be printed',
    'version with two slashes',
  ],
  'an empty log is an empty text (200), not no content (204)': ['logs of a pod on no node'],
  'the object quoted in a refused patch has its fields as stored, not in the order of the Go type': [
    'status of a wrong type',
  ],
  'a bad label is named once, not once for each time the metadata is validated': [
    'update of a bad label',
    'merge patch to a bad label',
  ],
  'the fields of a JSON patch operation are not validated strictly': ['JSON patch with an unknown part, strict'],
  'a get does not look at the resource version asked for': [
    'get a version that is far ahead',
    'get a version that is none',
  ],
  'no Retry-After header beside the one in the body': [
    'list a version that is far ahead',
    'list exactly a version that is far ahead',
  ],
  'metadata that the client may not set is not treated alike': [
    'create with metadata the server fills in',
    'apply with a version of nothing',
  ],
  'fields that the server fills in have another owner or are missing': [
    'create a headless service',
    'token',
    'table of daemonsets',
  ],
  'admission and validation are done in another order': ['pod without containers', 'update of a job'],
  'the status of deployments is not validated': ['status that is bad'],
  'binding and eviction check their bodies otherwise': ['pod is bound to nothing', 'pod is evicted under another name'],
  'a path that is not there is refused with a Status everywhere': ['OpenAPI 3 of what is not there'],
  'a list by a name in a field selector is not a question about that name': ['allowed by name'],
  'bodies may be less deep, and texts may hold half a surrogate pair': [
    'object that is deep',
    'text that is no UTF-8 escape',
  ],
  'a query that cannot be read is not dropped': ['query with a bad escape'],
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
