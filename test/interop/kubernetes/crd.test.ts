// Our custom resources against what a real kube-apiserver answered (recorded/crd.json, made by record-crd.ts).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, clientOf, startServer } from '../../../src/local/kubernetes/http/testing/server.ts';
import { definitions, type Json, type JsonMap } from './crd-cases/case.ts';
import { comparable, isMap } from './crd-cases/comparable.ts';
import type { Recorded, RecordedCase } from './crd-cases/run-cases.ts';

const recorded = JSON.parse(
  readFileSync(new URL('./recorded/crd.json', import.meta.url), 'utf8'),
) as readonly RecordedCase[];

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
