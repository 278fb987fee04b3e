// Maestro end to end: server and broker in one process, ten agents with their embedded clusters in another. A number as argument sets
// how many bundles are stored before the search by label is measured; 100,000 unless given.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectAsync } from 'mqtt';
import { createLogger } from '../src/kit/log.ts';
import type { ManifestBundle } from '../src/maestro/protocol/manifest-bundle.ts';
import type { StatusMessage } from '../src/maestro/protocol/messages.ts';
import { encodeMqtt } from '../src/maestro/protocol/mqtt-codec.ts';
import { type SourceClient, startSourceClient } from '../src/maestro/protocol/source-client.ts';
import { writeMessage } from '../src/maestro/protocol/write-message.ts';
import { median, percentile, progress, report } from './harness.ts';
import type { Change } from './maestro/agents.ts';

const bench = 'maestro';
const agents = Array.from({ length: 10 }, (_, at) => `cluster${at}`);
const perAgent = 200;
const accepted = 5000;
const listed = 600;
const changes = 200;
const resynced = 10_000;
const stored = Number(process.argv[2] ?? 100_000);
/** Requests of the source under way. */
const width = 64;
const label = 'api.openshift.com/id';

interface Region {
  readonly rest: string;
  readonly grpc: string;
  readonly broker: string;
}

await main();

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-maestro-'));
  const children: ChildProcess[] = [];
  const child = (file: string, args: readonly string[]): ChildProcess => {
    const made = fork(fileURLToPath(new URL(`maestro/${file}`, import.meta.url)), args);
    children.push(made);
    return made;
  };
  try {
    const [region] = (await once(child('region.ts', [directory]), 'message')) as [Region];
    const { source, statuses } = await openSource(region);
    const agentProcess = child('agents.ts', [region.broker, ...agents]);
    for (const consumer of [...agents, 'idle', 'listed', 'resynced']) await register(region, consumer);
    await once(agentProcess, 'message');
    // What runs for the first time is slower.
    await endToEnd(source, statuses, 'warm-up', 20);
    await endToEnd(source, statuses, 'bundle', perAgent);
    await visible(region, source, statuses, agentProcess);
    agentProcess.disconnect();
    await acceptance(source);
    await list(region, source);
    await resync(region, source);
    await search(region, source);
    await source.stop();
  } finally {
    for (const each of children) if (each.exitCode === null) each.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Statuses = ReadonlyMap<string, StatusMessage> & { onChange?: () => void };

async function openSource(region: Region): Promise<{ readonly source: SourceClient; readonly statuses: Statuses }> {
  const statuses: Map<string, StatusMessage> & { onChange?: () => void } = new Map();
  const source = startSourceClient({
    address: region.grpc,
    sourceId: 'bench',
    credentials: () => ({ plaintext: true }),
    logger: createLogger({ service: 'bench', level: 'error', destination: process.stderr }),
    onStatus(message) {
      statuses.set(message.resourceId, message);
      statuses.onChange?.();
    },
    knownStatuses: () => [],
  });
  await source.ready;
  return { source, statuses };
}

async function register(region: Region, name: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ name });
  const { status } = await fetch(`${region.rest}/api/maestro/v1/consumers`, { method: 'POST', headers, body });
  if (status !== 201) throw new Error(`a consumer could not be made: ${status}`);
}

/** About 3 KB, as small bundles are in use. */
function bundleOf(name: string): ManifestBundle {
  return {
    manifests: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default' },
        data: { fill: 'x'.repeat(2500) },
      },
    ],
    manifestConfigs: [
      {
        resourceIdentifier: { group: '', resource: 'configmaps', namespace: 'default', name },
        updateStrategy: { type: 'ServerSideApply' },
        feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'changed', path: '.data.changed' }] }],
      },
    ],
  };
}

/** Creates bundles, `width` at a time; their ids. */
async function createAll(source: SourceClient, wanted: readonly { consumer: string; name: string }[]) {
  const ids = wanted.map(() => randomUUID());
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < wanted.length; at = next++) {
      const { consumer = '', name = '' } = wanted[at] ?? {};
      const resourceId = ids[at] ?? '';
      const metadata = { name, labels: { [label]: name } };
      await source.create({ consumer, resourceId, bundle: bundleOf(name), metadata });
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return ids;
}

function named(consumer: string, count: number, prefix = 'bundle') {
  return Array.from({ length: count }, (_, at) => ({ consumer, name: `${prefix}-${at}` }));
}

function isApplied(message: StatusMessage | undefined): boolean {
  return message?.status.conditions.some(({ type, status }) => type === 'Applied' && status === 'True') ?? false;
}

async function endToEnd(source: SourceClient, statuses: Statuses, prefix: string, each: number): Promise<void> {
  progress(`${each} bundles to each of ${agents.length} agents`);
  const wanted = agents
    .flatMap((consumer) => named(consumer, each, prefix))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const from = performance.now();
  const waiting = new Set(await createAll(source, wanted));
  await new Promise<void>((resolve) => {
    statuses.onChange = () => {
      for (const id of waiting) {
        if (!isApplied(statuses.get(id))) return;
        waiting.delete(id);
      }
      resolve();
    };
    statuses.onChange();
  });
  delete statuses.onChange;
  if (prefix === 'warm-up') return;
  const value = wanted.length / ((performance.now() - from) / 1000);
  report({
    bench,
    case: 'created, applied and status back',
    value,
    unit: 'bundles/s',
    bound: { atLeast: 300 },
  });
}

/**
 * From the moment the other process is told to change an object until REST shows the new value: of objects in turn, and of one object
 * again and again. An agent looks at one bundle ten times a second at most, which is what the latter shows.
 */
async function visible(
  region: Region,
  source: SourceClient,
  statuses: Statuses,
  agentProcess: ChildProcess,
): Promise<void> {
  progress('status changes');
  const wanted = agents.flatMap((consumer) => named(consumer, 3, 'watched'));
  const ids = await createAll(source, wanted);
  for (const id of ids) while (!isApplied(statuses.get(id))) await turn();
  const change = async (at: number, value: string): Promise<number> => {
    const { consumer = '', name = '' } = wanted[at] ?? {};
    const from = performance.now();
    agentProcess.send({ consumer, name, value } satisfies Change);
    for (;;) {
      const answer = await fetch(`${region.rest}/api/maestro/v1/resource-bundles/${ids[at]}`);
      if ((await answer.text()).includes(value)) return performance.now() - from;
    }
  };
  const [inTurn, again]: [number[], number[]] = [[], []];
  for (let at = 0; at < changes; at++) inTurn.push(await change(at % wanted.length, `value-${at}.`));
  for (let at = 0; at < changes / 4; at++) again.push(await change(0, `again-${at}.`));
  const title = 'a status change visible through REST';
  report({ bench, case: `${title}, median`, value: median(inTurn), unit: 'ms', bound: { atMost: 50 } });
  const slowest = percentile(inTurn, 99);
  report({ bench, case: `${title}, 99th percentile`, value: slowest, unit: 'ms', bound: { atMost: 500 } });
  report({ bench, case: `${title}, of one object without pause, median`, value: median(again), unit: 'ms' });
}

async function acceptance(source: SourceClient): Promise<void> {
  progress(`${accepted} bundles accepted`);
  const from = performance.now();
  await createAll(source, named('idle', accepted));
  const value = accepted / ((performance.now() - from) / 1000);
  report({ bench, case: 'accepted from a source', value, unit: 'bundles/s', bound: { atLeast: 1500 } });
}

async function list(region: Region, source: SourceClient): Promise<void> {
  await createAll(source, named('listed', listed));
  const search = encodeURIComponent("consumer_name = 'listed'");
  const url = `${region.rest}/api/maestro/v1/resource-bundles?size=${listed}&search=${search}`;
  const times = await timed(20, url, listed);
  report({ bench, case: `list of ${listed}`, value: median(times), unit: 'ms', bound: { atMost: 60 } });
}

/** An agent that has nothing asks for everything. */
async function resync(region: Region, source: SourceClient): Promise<void> {
  progress(`resync of ${resynced}`);
  await createAll(source, named('resynced', resynced));
  const client = await connectAsync(`mqtt://${region.broker}`, {
    protocolVersion: 5,
    clientId: 'bench-agent',
    username: 'bench',
    password: 'bench',
  });
  const seen = new Set<string>();
  const all = new Promise<void>((resolve) => {
    client.on('message', (_topic, _payload, { properties }) => {
      const { 'ce-type': type, 'ce-resourceid': id } = properties?.userProperties ?? {};
      if (!String(type).endsWith('resync_response')) return;
      seen.add(String(id));
      if (seen.size === resynced) resolve();
    });
  });
  await client.subscribeAsync('sources/maestro/consumers/resynced/sourceevents', { qos: 1 });
  const { payload, properties } = encodeMqtt(
    writeMessage({
      kind: 'spec-resync',
      id: randomUUID(),
      source: 'bench-agent',
      time: new Date().toISOString(),
      clusterName: 'resynced',
      originalSource: '',
      resourceVersions: [],
    }),
  );
  const from = performance.now();
  await client.publishAsync('sources/maestro/consumers/resynced/agentevents', payload, { qos: 1, properties });
  await all;
  const value = (performance.now() - from) / 1000;
  report({ bench, case: `resync of ${resynced} bundles`, value, unit: 's', bound: { atMost: 5 } });
  await client.endAsync(true);
}

async function search(region: Region, source: SourceClient): Promise<void> {
  progress(`${stored} bundles stored`);
  await createAll(source, named('idle', stored, 'stored'));
  const wanted = `stored-${Math.floor(stored / 2)}`;
  const text = encodeURIComponent(`payload->'metadata'->'labels'->>'${label}'='${wanted}'`);
  const times = await timed(50, `${region.rest}/api/maestro/v1/resource-bundles?search=${text}`, 1);
  const title = `search by label among ${stored}`;
  report({ bench, case: title, value: median(times), unit: 'ms', bound: { atMost: 20 } });
}

/** How long each of some requests took, in ms; the first one does not count. */
async function timed(count: number, url: string, items: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at <= count; at++) {
    const from = performance.now();
    const body = (await (await fetch(url)).json()) as { readonly items?: readonly unknown[] };
    if (at > 0) times.push(performance.now() - from);
    if (body.items?.length !== items) throw new Error(`${body.items?.length} items instead of ${items}`);
  }
  return times;
}
