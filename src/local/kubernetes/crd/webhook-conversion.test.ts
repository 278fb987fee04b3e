import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createAuthority, issueServerCertificate } from '../../../pki/authority.ts';
import { keyPem } from '../../../pki/keys.ts';
import { type Client, clientOf, startServer } from '../http/testing/server.ts';
import type { KubeObject } from '../object.ts';
import type { Status } from '../status.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = (version: string) => `/apis/example.com/${version}/namespaces/default/widgets`;

interface Review {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly KubeObject[];
  };
}

interface Webhook {
  readonly url: string;
  readonly caBundle: string;
  readonly reviews: Review[];
  /** Set to make it refuse. */
  refuses: string | undefined;
}

/** v1 says `spec.size`, v2 says `spec.dimensions.size`. */
function converted(object: KubeObject, apiVersion: string): KubeObject {
  const spec = object.spec as { size?: number; dimensions?: { size?: number } };
  const size = spec.size ?? spec.dimensions?.size;
  return { ...object, apiVersion, spec: apiVersion.endsWith('/v1') ? { size } : { dimensions: { size } } };
}

async function startWebhook(t: TestContext): Promise<Webhook> {
  const authority = await createAuthority({ name: 'webhooks' });
  const issued = await issueServerCertificate(authority, { commonName: 'webhook', ipAddresses: ['127.0.0.1'] });
  const webhook: Webhook = {
    url: '',
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    reviews: [],
    refuses: undefined,
  };
  const server = createServer({ cert: issued.certificatePem, key: keyPem(issued.key) }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(parts).toString()) as Review;
      webhook.reviews.push(review);
      const { uid, desiredAPIVersion, objects } = review.request;
      const result = webhook.refuses
        ? { uid, result: { status: 'Failure', message: webhook.refuses } }
        : {
            uid,
            result: { status: 'Success' },
            convertedObjects: objects.map((object) => converted(object, desiredAPIVersion)),
          };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ kind: 'ConversionReview', apiVersion: review.apiVersion, response: result }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(webhook, { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/convert` });
}

const integer = { type: 'integer' };
const schemaOf = (spec: object) => ({ openAPIV3Schema: { type: 'object', properties: { spec } } });

const definition = ({ url, caBundle }: Webhook) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: schemaOf({ type: 'object', properties: { size: integer } }) },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: schemaOf({
          type: 'object',
          properties: { dimensions: { type: 'object', properties: { size: integer } } },
        }),
      },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url, caBundle } },
    },
  },
});

const widget = (version: string, name: string, spec: object) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name },
  spec,
});

async function started(t: TestContext): Promise<{ client: Client; webhook: Webhook }> {
  const webhook = await startWebhook(t);
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const answer = await client.request('POST', definitions, { body: definition(webhook) });
  assert.equal(answer.status, 201, answer.text);
  return { client, webhook };
}

test('an object is written and read in any version, whichever is stored', async (t) => {
  const { client, webhook } = await started(t);
  const one = await client.request('POST', path('v1'), { body: widget('v1', 'one', { size: 1 }) });
  assert.equal(one.status, 201, one.text);
  assert.equal(webhook.reviews.length, 0, 'what is stored as it came needs nobody');
  const asSecond = await client.request('GET', `${path('v2')}/one`);
  assert.deepEqual(asSecond.json().spec, { dimensions: { size: 1 } });
  assert.equal(asSecond.json().metadata.uid, one.json().metadata.uid);

  const two = await client.request('POST', path('v2'), { body: widget('v2', 'two', { dimensions: { size: 2 } }) });
  assert.equal(two.status, 201, two.text);
  assert.deepEqual(two.json().spec, { dimensions: { size: 2 } });
  assert.deepEqual((await client.request('GET', `${path('v1')}/two`)).json().spec, { size: 2 });

  const patched = await client.request('PATCH', `${path('v2')}/one`, {
    body: { spec: { dimensions: { size: 5 } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  assert.deepEqual(patched.json().spec, { dimensions: { size: 5 } });
  assert.deepEqual((await client.request('GET', `${path('v1')}/one`)).json().spec, { size: 5 });
  assert.equal((await client.request('DELETE', `${path('v2')}/one`)).status, 200);
});

test('a list asks once for all, and once only', async (t) => {
  const { client, webhook } = await started(t);
  for (let index = 0; index < 20; index += 1) {
    await client.request('POST', path('v1'), { body: widget('v1', `w${index}`, { size: index }) });
  }
  const list = async () => (await client.request('GET', path('v2'))).json<{ items: KubeObject[] }>().items;
  assert.equal((await list()).length, 20);
  assert.equal(webhook.reviews.length, 1);
  assert.deepEqual((await list())[0]?.spec, { dimensions: { size: 0 } });
  assert.equal(webhook.reviews.length, 1);
});

test('a watch shows every change in its own version, in order', async (t) => {
  const { client } = await started(t);
  await client.request('POST', path('v1'), { body: widget('v1', 'a', { size: 1 }) });
  const watching = await client.watch(`${path('v2')}?watch=1`);
  for (const name of ['b', 'c']) {
    await client.request('POST', path('v1'), { body: widget('v1', name, { size: 2 }) });
  }
  for (const name of ['a', 'b', 'c']) {
    const event = await watching.next();
    assert.equal(event?.object.metadata.name, name);
    assert.deepEqual(event?.object.spec, { dimensions: { size: name === 'a' ? 1 : 2 } });
  }
  watching.close();
});

test('what the webhook refuses is told', async (t) => {
  const { client, webhook } = await started(t);
  await client.request('POST', path('v1'), { body: widget('v1', 'a', { size: 1 }) });
  webhook.refuses = 'not today';
  const answer = await client.request('GET', `${path('v2')}/a`);
  assert.equal(answer.status, 500);
  assert.equal(answer.json<Status>().message, 'conversion webhook for example.com/v1, Kind=Widget failed: not today');
  assert.equal((await client.request('GET', `${path('v1')}/a`)).status, 200);
});
