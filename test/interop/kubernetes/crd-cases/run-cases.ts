// Puts the cases of custom resources to a real kube-apiserver.
import { setTimeout as sleep } from 'node:timers/promises';
import { applyMergePatch } from '../../../../src/local/kubernetes/patch/merge-patch.ts';
import type { Called, RealApiServer } from '../real-api-server.ts';
import { type Case, definitions, type Json, type JsonMap, type Step } from './case.ts';

/** A step as it was sent, and what it was answered. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  readonly contentType?: string;
  readonly accept?: string;
  readonly settle?: boolean;
  readonly status: number;
  readonly answer: Json;
}

export interface RecordedCase {
  readonly name: string;
  readonly steps: readonly Recorded[];
}

/** How long the server's controllers may take for their part. */
const settleMilliseconds = 1500;

const inGroup = <T>(value: T, group: string): T => JSON.parse(JSON.stringify(value).replaceAll('GROUP', group)) as T;

/** The server describes the columns it adds at length; that says nothing about what it does. */
function withoutProse(answer: Json): Json {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const { columnDefinitions } = answer;
  if (!Array.isArray(columnDefinitions)) return answer;
  const columns = (columnDefinitions as JsonMap[]).map(({ description, ...column }) =>
    /^(Name must be|CreationTimestamp is) /.test(String(description))
      ? column
      : { ...column, description: description ?? '' },
  );
  return { ...answer, columnDefinitions: columns };
}

const attempts = 10;
const tooManyRequests = 429;

/** While a server makes room for a definition's objects anew it asks to be asked again. */
async function patiently(ask: () => Promise<Called>): Promise<Called> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask();
    if (answer.status !== tooManyRequests || attempt === attempts) return answer;
    await sleep(settleMilliseconds);
  }
}

async function perform(server: RealApiServer, given: Step): Promise<Recorded> {
  const { merge, ...step } = given;
  let body = step.body;
  if (merge) {
    const live = await server.call('GET', step.path);
    body = applyMergePatch(live.body as JsonMap, body ?? {}) as Json;
  }
  const { status, body: answer } = await patiently(() => server.call(step.method, step.path, { ...step, body }));
  return { ...step, ...(body === undefined ? {} : { body }), status, answer: withoutProse(answer as Json) };
}

/** Definitions take the server a while; all cases' first steps are made before any other. */
export async function runCases(server: RealApiServer, cases: readonly Case[]): Promise<readonly RecordedCase[]> {
  const made: { readonly name: string; readonly group: string; readonly steps: Recorded[] }[] = [];
  for (const [index, { name, steps }] of cases.entries()) {
    const [first] = steps;
    if (!first) throw new Error('a case has no steps');
    const group = `g${index}.example.com`;
    made.push({ name, group, steps: [await perform(server, inGroup(first, group))] });
  }
  await sleep(8 * settleMilliseconds);
  await Promise.all(
    made.map(async ({ group, steps }, index) => {
      for (const step of cases[index]?.steps.slice(1) ?? []) {
        const asked = inGroup(step, group);
        steps.push(await perform(server, asked));
        // A definition's schema takes a moment to reach those who serve and track its objects.
        if (asked.settle) await sleep(asked.path.startsWith(definitions) ? 8 * settleMilliseconds : settleMilliseconds);
      }
    }),
  );
  return made.map(({ name, steps }) => ({ name, steps }));
}
