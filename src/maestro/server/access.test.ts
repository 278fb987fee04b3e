import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Agent, fetch } from 'undici';
import { Secret } from '../../kit/secret.ts';
import { type TestCertificates, testCertificates } from '../../kit/testing/certificates.ts';
import { manifestBundles } from '../protocol/event-type.ts';
import { type GrpcCredentials, openGrpcConnection } from '../protocol/grpc-connection.ts';
import { PublishError } from '../protocol/publish-error.ts';
import { writeMessage } from '../protocol/write-message.ts';
import { createAccess } from './access.ts';
import type { MaestroServerConfig } from './config.ts';
import { configMaps, databases, specResync, testServer } from './testing/world.ts';

const named = (...names: readonly string[]) => ({ kind: 'names', names }) as const;

describe('rules', () => {
  const access = createAccess([
    { who: 'cn:clusters-service', sources: ['clusters-service', 'cs-*'], consumers: ['mgmt-*'], rest: 'read' },
    { who: 'cn:*-work-agent', agentOf: ['{*}'] },
    { who: 'sub:admin', rest: 'write' },
  ]);
  test('no rule, no right', () => {
    assert.equal(access.mayBeSource(named('cn:nobody'), 'clusters-service'), false);
    assert.equal(access.mayRest(named(), 'read'), false);
  });
  test('a source is who the rule says, and sends where the rule says', () => {
    const source = named('cn:clusters-service');
    assert.equal(access.mayBeSource(source, 'cs-1'), true);
    assert.equal(access.mayBeSource(source, 'other'), false);
    assert.equal(access.maySendTo(source, 'cs-1', 'mgmt-1'), true);
    assert.equal(access.maySendTo(source, 'cs-1', 'other'), false);
    assert.equal(access.mayRest(source, 'read'), true);
    assert.equal(access.mayRest(source, 'write'), false);
    assert.equal(access.mayRest(named('sub:admin'), 'write'), true);
  });
  test('an agent is of the consumer in its name, and of no other', () => {
    assert.equal(access.mayBeAgentOf(named('cn:cluster1-work-agent'), 'cluster1'), true);
    assert.equal(access.mayBeAgentOf(named('cn:cluster1-work-agent'), 'cluster2'), false);
    assert.equal(access.mayBeAgentOf(named('cn:-work-agent'), ''), false);
    assert.equal(access.mayBeAgentOf(named('dns:cluster1-work-agent'), 'cluster1'), false);
    assert.equal(access.mayBeAgentOf(named('cn:*-work-agent'), 'cluster1'), false);
  });
});

const rules: MaestroServerConfig['rules'] = [
  { who: 'cn:clusters-service', sources: ['clusters-service'], consumers: ['cluster1'], rest: 'read' },
  { who: 'cn:*-work-agent', agentOf: ['{*}'] },
  { who: 'sub:backplane', sources: ['backplane'], rest: 'write' },
];

async function secureServer(t: TestContext) {
  const certificates = await testCertificates(t);
  const issuer = await generateKeyPair('ES256');
  const keys = join(certificates.directory, 'keys.json');
  await writeFile(
    keys,
    JSON.stringify({ keys: [{ ...(await exportJWK(issuer.publicKey)), kid: 'one', alg: 'ES256' }] }),
  );
  const server = await testServer(t, await databases.SQLite(t), {
    tls: {
      certificate: certificates.server.certificate,
      key: certificates.server.key,
      clientAuthorities: certificates.caFile,
    },
    tokens: { issuer: 'https://issuer.example', audience: 'maestro', keys },
    rules,
  });
  await server.register('cluster1');
  await server.register('cluster2');
  const token = (subject: string, audience = 'maestro', expires = '5m') =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer('https://issuer.example')
      .setAudience(audience)
      .setSubject(subject)
      .setExpirationTime(expires)
      .sign(issuer.privateKey);
  return { server, certificates, token };
}

async function certificateOf(certificates: TestCertificates, commonName: string): Promise<GrpcCredentials> {
  const { cert, key } = await certificates.client({ commonName });
  return { authorities: certificates.ca, certificate: cert, key: new Secret(key) };
}

function create(source: string, consumer: string) {
  return writeMessage({
    kind: 'spec',
    action: 'create_request',
    id: randomUUID(),
    source,
    clusterName: consumer,
    originalSource: '',
    resourceId: randomUUID(),
    resourceVersion: 0,
    bundle: configMaps('a'),
  });
}

const failsAs = (failure: string) => (error: unknown) => error instanceof PublishError && error.failure === failure;

test('sources are known by certificate or token, and do what their rules allow', async (t) => {
  const { server, certificates, token } = await secureServer(t);
  const connect = (credentials: GrpcCredentials) => {
    const connection = openGrpcConnection({ address: server.grpc, credentials });
    t.after(() => connection.close());
    return connection;
  };
  const source = connect(await certificateOf(certificates, 'clusters-service'));
  await source.publish(create('clusters-service', 'cluster1'));
  await assert.rejects(source.publish(create('clusters-service', 'cluster2')), failsAs('forbidden'));
  await assert.rejects(source.publish(create('backplane', 'cluster1')), failsAs('forbidden'));
  const stranger = connect(await certificateOf(certificates, 'stranger'));
  await assert.rejects(stranger.publish(create('clusters-service', 'cluster1')), failsAs('forbidden'));
  const nobody = connect({ authorities: certificates.ca });
  await assert.rejects(nobody.publish(create('clusters-service', 'cluster1')), failsAs('unauthenticated'));
  const withToken = (text: string) => connect({ authorities: certificates.ca, token: () => new Secret(text) });
  await withToken(await token('backplane')).publish(create('backplane', 'cluster2'));
  for (const bad of [await token('backplane', 'another'), await token('backplane', 'maestro', '-1m'), 'nonsense']) {
    await assert.rejects(withToken(bad).publish(create('backplane', 'cluster2')), failsAs('unauthenticated'));
  }
  const stream = await source.subscribe({ source: 'backplane', clusterName: '', dataType: manifestBundles });
  const error = await new Promise<{ code?: number }>((resolve) => stream.on('error', resolve));
  assert.equal(error.code, status.PERMISSION_DENIED);
});

test('an agent without a broker speaks for its own consumer only', async (t) => {
  const { server, certificates } = await secureServer(t);
  const connection = openGrpcConnection({
    address: server.grpcBroker,
    credentials: await certificateOf(certificates, 'cluster1-work-agent'),
  });
  t.after(() => connection.close());
  await assert.rejects(connection.publish(writeMessage(specResync('cluster2', []))), failsAs('forbidden'));
  const stream = await connection.subscribe({ source: '', clusterName: 'cluster2', dataType: manifestBundles });
  const error = await new Promise<{ code?: number }>((resolve) => stream.on('error', resolve));
  assert.equal(error.code, status.PERMISSION_DENIED);
});

test('REST asks who it is and what it may', async (t) => {
  const { server, certificates, token } = await secureServer(t);
  const { cert, key } = await certificates.client({ commonName: 'clusters-service' });
  const ask = async (connect: object, init: { method?: string; headers?: Record<string, string> } = {}) => {
    const dispatcher = new Agent({ connect: { ca: certificates.ca, ...connect } });
    t.after(() => dispatcher.close());
    const answer = await fetch(`${server.addresses.rest}/api/maestro/v1/consumers/none`, { ...init, dispatcher });
    const body = (await answer.json()) as { code?: string };
    return [answer.status, body.code];
  };
  assert.deepEqual(await ask({}), [401, 'maestro-15']);
  assert.deepEqual(await ask({ cert, key }), [404, 'maestro-7']);
  assert.deepEqual(await ask({ cert, key }, { method: 'DELETE' }), [403, 'maestro-11']);
  const authorization = `Bearer ${await token('backplane')}`;
  assert.deepEqual(await ask({}, { method: 'DELETE', headers: { authorization } }), [404, 'maestro-7']);
  assert.deepEqual(await ask({}, { headers: { authorization: 'Bearer x' } }), [401, 'maestro-15']);
  assert.deepEqual(await ask({}, { headers: { authorization: `Bearer ${await token('nobody')}` } }), [
    403,
    'maestro-11',
  ]);
});
