// Records what a real kube-apiserver answers to the cases of crd-cases/, for the test that holds our own custom resources to it:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record-crd.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyMergePatch } from '../../../src/local/kubernetes/patch/merge-patch.ts';
import { type Case, definitions, type Json, type JsonMap, type Step } from './crd-cases/case.ts';
import { cases } from './crd-cases/cases.ts';
import { type Peer, startPeer } from './crd-cases/peer.ts';

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  readonly contentType?: string;
  readonly accept?: string;
  readonly settle?: boolean;
  readonly status: number;
  readonly answer: Json;
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

async function perform(peer: Peer, given: Step): Promise<Recorded> {
  const { merge, ...step } = given;
  let body = step.body;
  if (merge) {
    const live = await peer.call('GET', step.path);
    body = applyMergePatch(live.body as JsonMap, body ?? {}) as Json;
  }
  const { status, body: answer } = await peer.call(step.method, step.path, body, step.contentType, step.accept);
  return { ...step, ...(body === undefined ? {} : { body }), status, answer: withoutProse(answer) };
}

/** Definitions take the server a while; all cases' first steps are made before any other. */
async function record(peer: Peer): Promise<void> {
  const groups = cases.map((_, index) => `g${index}.example.com`);
  const recorded: Recorded[][] = [];
  for (const [index, { steps }] of cases.entries()) {
    const [first] = steps;
    if (!first) throw new Error('a case has no steps');
    recorded.push([await perform(peer, inGroup(first, groups[index] ?? ''))]);
  }
  await sleep(12_000);
  await Promise.all(
    cases.map(async ({ name, steps }: Case, index) => {
      for (const step of steps.slice(1)) {
        const made = inGroup(step, groups[index] ?? '');
        recorded[index]?.push(await perform(peer, made));
        // A definition's schema takes a moment to reach those who serve and track its objects.
        if (made.settle) await sleep(made.path.startsWith(definitions) ? 8 * settleMilliseconds : settleMilliseconds);
      }
      process.stdout.write(`${name}\n`);
    }),
  );
  const target = join(import.meta.dirname, 'recorded');
  mkdirSync(target, { recursive: true });
  const lines = cases.map(({ name }, index) => JSON.stringify({ name, steps: recorded[index] }));
  writeFileSync(join(target, 'crd.json'), `[\n${lines.join(',\n')}\n]\n`);
  process.stdout.write(`${lines.length} cases recorded\n`);
}

const peer = await startPeer();
try {
  await record(peer);
} finally {
  await peer.stop();
}
