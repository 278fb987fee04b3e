// The stack on the listener that services use: the caller is known by its certificate, over HTTP/1.1 and HTTP/2.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Agent, request } from 'undici';
import type {} from '../kit/caller.ts';
import { listen } from '../kit/listener.ts';
import { createLogger } from '../kit/log.ts';
import { testCertificates } from '../kit/testing/certificates.ts';
import { forbidden } from './errors.ts';
import { demoProvider, groupPath } from './testing/demo-provider.ts';
import { demoStore } from './testing/demo-store.ts';

const path = `${groupPath}/providers/Demo.Widgets/widgets/w?api-version=2024-01-01`;
const body = JSON.stringify({ location: 'westeurope', properties: { size: 3 } });
const fromArm = {
  'content-type': 'application/json',
  referer: 'https://management.azure.com/x',
  'azure-asyncnotificationuri': 'https://management.azure.com/notify',
};

for (const http2 of [false, true]) {
  const over = http2 ? 'HTTP/2' : 'HTTP/1.1';

  test(`over ${over}, ARM is who holds ARM’s certificate and nobody else`, async (t) => {
    const { send, client } = await setup(t, http2);
    const arm = await send(await client('arm.example'), 'PUT', body);
    assert.equal(arm.status, 201);
    assert.equal(arm.headers['azure-asyncnotification'], 'Enabled');
    assert.match(String(arm.headers['azure-asyncoperation']), /^https:\/\/management\.azure\.com\//);

    const other = await send(await client('other.example'), 'PUT', body);
    assert.equal(other.status, 200);
    assert.equal(other.headers['azure-asyncnotification'], undefined);
    assert.match(String(other.headers['azure-asyncoperation']), /^https:\/\/demo\.example\//);

    const nobody = await send({}, 'PUT', body);
    assert.deepEqual([nobody.status, nobody.headers['x-ms-error-code']], [403, 'Forbidden']);
  });

  test(`over ${over}, bodies that are too large or broken are refused`, async (t) => {
    const { send, client } = await setup(t, http2);
    const arm = await client('arm.example');
    const large = await send(arm, 'PUT', ' '.repeat(65_537));
    assert.deepEqual([large.status, large.json.error.code], [400, 'InvalidResource']);
    const broken = await send(arm, 'PUT', '{');
    assert.deepEqual([broken.status, broken.json.error.code], [400, 'InvalidRequestContent']);
    const method = await send(arm, 'PATCH', '{}');
    assert.deepEqual([method.status, method.headers.allow], [405, 'DELETE, GET, HEAD, PUT']);
  });
}

async function setup(t: TestContext, http2: boolean) {
  const certificates = await testCertificates(t);
  const store = await demoStore();
  const app = demoProvider({
    container: store.container,
    authenticate: ({ caller }) => {
      if (caller.kind !== 'certificate') throw forbidden();
      return { name: caller.identity, isArm: caller.identity === 'arm.example' };
    },
  });
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    ...certificates.server,
    http2,
    clients: { authorities: certificates.caFile, unauthenticated: 'anonymous' },
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  t.after(async () => {
    await listener.stop(AbortSignal.abort());
    await app.close();
    await store.close();
  });
  return {
    client: (commonName: string) => certificates.client({ commonName }),
    async send(tls: object, method: 'PUT' | 'PATCH', content: string) {
      const dispatcher = new Agent({ allowH2: http2, connect: { ca: certificates.ca, ...tls } });
      try {
        const answer = await request(`${listener.url}${path}`, { dispatcher, method, headers: fromArm, body: content });
        const json = (await answer.body.json()) as { readonly error: { readonly code: string } };
        return { status: answer.statusCode, headers: answer.headers, json };
      } finally {
        await dispatcher.destroy();
      }
    },
  };
}
