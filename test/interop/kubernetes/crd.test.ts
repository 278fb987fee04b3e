// Our custom resources against what a real kube-apiserver answered (recorded/crd.json, made by record-crd.ts).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, clientOf, startServer } from '../../../src/local/kubernetes/http/testing/server.ts';
import { definitions, type Json, type JsonMap } from './crd-cases/case.ts';

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

const recorded = JSON.parse(readFileSync(new URL('./recorded/crd.json', import.meta.url), 'utf8')) as readonly {
  readonly name: string;
  readonly steps: readonly Recorded[];
}[];

const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What no two servers have the same. */
const own = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'time', 'lastTransitionTime']);

/** An answer without what no two servers have the same, and errors in one order: the server's own order is by chance. */
function comparable(value: Json): Json {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isMap(value)) return value;
  const kept: JsonMap = {};
  for (const [member, content] of Object.entries(value)) {
    if (own.has(member)) continue;
    if (member === 'causes' && Array.isArray(content)) {
      kept.causes = content
        .map(comparable)
        .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
    } else kept[member] = comparable(content);
  }
  if (kept.format !== undefined && kept.priority !== undefined && !kept.description) delete kept.description;
  // Which status fields the server's own writes claim depends on how often it writes.
  if (kept.kind === 'CustomResourceDefinition' && isMap(kept.metadata)) delete kept.metadata.managedFields;
  if (kept.kind === 'Status' && isMap(kept.details) && Array.isArray(kept.details.causes)) {
    if (kept.details.causes.length > 1) kept.message = String(kept.message).split(' is invalid: ')[0] ?? '';
  }
  return kept;
}

/** The body as recorded, about our object instead of theirs. */
async function bodyOf(client: Client, { method, path, body }: Recorded): Promise<Json | undefined> {
  if (method !== 'PUT' || !isMap(body) || !isMap(body.metadata) || body.metadata.uid === undefined) return body;
  const { uid, resourceVersion, creationTimestamp, managedFields } = (await client.request('GET', path)).json<{
    metadata: JsonMap;
  }>().metadata;
  const metadata = { ...body.metadata, uid, resourceVersion, creationTimestamp, managedFields } as JsonMap;
  return { ...body, metadata };
}

/** Waits until what follows a change of a definition has happened. */
async function settle(client: Client, { method, path, body }: Recorded): Promise<void> {
  if (!path.startsWith(definitions)) return;
  const name = isMap(body) && isMap(body.metadata) ? body.metadata.name : path.slice(definitions.length + 1);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const found = await client.request('GET', `${definitions}/${name}`);
    const { status, metadata } = found.json<{ status?: { conditions?: JsonMap[] | null }; metadata: JsonMap }>();
    if (found.status === 404) return;
    const conditions = status?.conditions ?? [];
    const reasons = conditions.map(({ reason }) => reason);
    if (method === 'DELETE' ? reasons.includes('InstanceDeletionInProgress') : conditions.length > 0) return;
    if (metadata.deletionTimestamp !== undefined && method !== 'DELETE') return;
    await sleep(5);
  }
}

test('what a real API server answered about custom resources', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  for (const { name, steps } of recorded) {
    await t.test(name, async () => {
      for (const step of steps) {
        const { method, path, contentType, accept, status, answer } = step;
        const body = await bodyOf(client, step);
        const reply = await client.request(method, path, {
          ...(body === undefined ? {} : { body }),
          headers: {
            'user-agent': 'recorder',
            ...(contentType ? { 'content-type': contentType } : {}),
            ...(accept ? { accept } : {}),
          },
        });
        const ours = reply.text.startsWith('{') ? reply.json<Json>() : reply.text;
        if (step.settle) await settle(client, step);
        // A fault of the client's that the server answers with a bare 500 is a bad request here.
        if (status === 500) assert.equal(reply.status, 400, reply.text);
        else {
          assert.deepEqual(comparable(ours), comparable(answer), `${method} ${path}`);
          assert.equal(reply.status, status);
        }
      }
    });
  }
});
