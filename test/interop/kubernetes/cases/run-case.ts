// Runs one case over a connection: fills in what its steps refer to, asks, and gives the answers in comparable form.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, type Headers, type Json, prefixes, type Step } from './case.ts';
import { normalise } from './normalise.ts';
import type { Answer, Asked, Wire } from './wire.ts';

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** The namespace that a case has to itself. */
export const namespaceOf = ({ name }: Case): string =>
  `c-${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-|-$/g, '')}-${digest(name).slice(0, 4)}`;

/** Changes when the requests of a case do, so that a recording of other requests is not taken for one of these. */
export const printOf = ({ setup, steps, only }: Case): string =>
  digest(JSON.stringify([setup, steps, only ?? null])).slice(0, 12);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Throws when a step of the set-up is refused. */
export async function runCase(wire: Wire, tested: Case): Promise<readonly Told[]> {
  const namespace = namespaceOf(tested);
  const made = await wire.ask({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  });
  if (made.status !== 201) throw new Error(`no namespace for ${tested.name}: ${JSON.stringify(made.body)}`);
  const answers: Json[] = [];
  for (const step of tested.setup) {
    const { status, body } = await asked(wire, filledIn(step, namespace, answers), step.until);
    if (step.until === undefined ? status >= 300 : status !== step.until)
      throw new Error(`set-up of ${tested.name}: ${step.method} ${step.path}: ${JSON.stringify(body)}`);
    answers.push(body);
  }
  if (tested.setup.some(({ path }) => path.startsWith('role'))) await wire.settle();
  const told: Told[] = [];
  for (const step of tested.steps) {
    const { status, headers, body } = await wire.ask(filledIn(step, namespace, answers));
    answers.push(body);
    const shown = tested.only && status < 300 ? pick(body, tested.only) : body;
    told.push({ status, headers: normalise(headers) as Headers, body: normalise(shown) });
  }
  return told;
}

const patienceMilliseconds = 10_000;

/** The answer, or with `until` the first that has this status; the last when none has for long. */
async function asked(wire: Wire, request: Asked, until: number | undefined): Promise<Answer> {
  const deadline = Date.now() + patienceMilliseconds;
  for (;;) {
    const answer = await wire.ask(request);
    if (until === undefined || answer.status === until || Date.now() > deadline) return answer;
    await sleep(50);
  }
}

function filledIn(step: Step, namespace: string, answers: readonly Json[]): Asked {
  const fill = (text: string): string =>
    text.replaceAll('$NS', namespace).replace(/\{\{(\d+)\.([^}]*)\}\}/g, (_, index: string, path: string) => {
      const value = at(answers[Number(index)] ?? null, path);
      if (typeof value !== 'string' && typeof value !== 'number')
        throw new Error(`${step.path}: nothing at ${index}.${path}`);
      return String(value);
    });
  const walk = (value: Json): Json => {
    if (typeof value === 'string') return fill(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]));
  };
  const [first = ''] = step.path.split(/[/?]/);
  const prefix = prefixes.get(first);
  return {
    ...step,
    path: fill(prefix ? `${prefix}/namespaces/$NS/${step.path}` : step.path),
    ...(step.headers ? { headers: walk(step.headers) as Headers } : {}),
    ...(step.body === undefined ? {} : { body: walk(step.body) }),
  };
}

function at(value: Json, path: string): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as { readonly [key: string]: Json })[key];
  }
  return found;
}

const pick = (value: Json, paths: readonly string[]): Json =>
  Object.fromEntries(paths.map((path) => [path, at(value, path) ?? null]));
