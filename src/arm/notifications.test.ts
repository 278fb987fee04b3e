import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGuardedClient, type GuardedClient } from '../kit/guarded-client.ts';
import { createLogger } from '../kit/log.ts';
import { createAuthority, issueServerCertificate } from '../pki/authority.ts';
import type { Container } from '../store/store.ts';
import { type NotificationOptions, type NotificationSender, startNotifications } from './notifications.ts';
import { createOperation, isOperation, type OperationDocument, operationTtlSeconds } from './operation.ts';
import { type DemoDocument, finish, operationOptions, subscriptionId } from './testing/demo-provider.ts';
import { type DemoStore, demoContainer, demoStore } from './testing/demo-store.ts';

interface Received {
  readonly path: string;
  readonly type: string | undefined;
  readonly body: { readonly name: string; readonly status: string; readonly id: string; readonly error?: object };
}

let store: DemoStore;
let server: Server;
let origin = '';
let client: GuardedClient;
let received: Received[] = [];
/** What the receiver answers, per call; 200 when it runs out. */
let answers: number[] = [];
/** Called for a request that then gets no answer. */
let held: (() => void) | undefined;
let authorityPem = '';
const senders: NotificationSender[] = [];
const log = createLogger({ service: 'test', level: 'silent' });

before(async () => {
  store = await demoStore();
  const authority = await createAuthority({ name: 'test' });
  authorityPem = authority.certificatePem;
  const certificate = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  server = createServer(
    { key: certificate.key.export({ type: 'pkcs8', format: 'pem' }), cert: certificate.certificatePem },
    (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      request.on('end', () => {
        if (held) {
          held();
          held = undefined;
          return;
        }
        received.push({ path: request.url ?? '', type: request.headers['content-type'], body: JSON.parse(text) });
        response.writeHead(answers.shift() ?? 200).end();
      });
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  origin = `https://localhost:${port}`;
  client = createGuardedClient({
    allowedHosts: ['localhost'],
    privateHosts: ['localhost'],
    allowedPorts: [port, 1],
    ca: authority.certificatePem,
    timeoutSeconds: 5,
    maxResponseBytes: 65_536,
  });
});
afterEach(async () => {
  for (const sender of senders.splice(0)) await sender.stop();
  received = [];
  answers = [];
});
after(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
  await store.close();
});

function start(
  more: Partial<NotificationOptions> = {},
  container: Container<DemoDocument> = store.container,
): NotificationSender {
  const sender = startNotifications({
    container: container as unknown as Container<object>,
    paths: operationOptions.paths,
    client,
    log,
    sweepSeconds: 0.05,
    firstRetrySeconds: 0.05,
    sendTimeoutSeconds: 5,
    ...more,
  });
  senders.push(sender);
  return sender;
}

async function operation(more: Partial<OperationDocument> = {}): Promise<string> {
  const operationId = randomUUID();
  const now = new Date().toISOString();
  const document: OperationDocument = {
    documentType: 'operation',
    operationId,
    subscriptionId,
    location: 'westeurope',
    request: 'Create',
    resourceId: '/x',
    status: 'Accepted',
    startTime: now,
    lastTransitionTime: now,
    notificationUri: `${origin}/notify/${operationId}`,
    ...more,
  };
  await store.container.batch(subscriptionId, [createOperation(document)]);
  return operationId;
}

async function read(operationId: string): Promise<OperationDocument> {
  const body = (await store.container.read({ partition: subscriptionId, id: `operation:${operationId}` }))?.body;
  assert.ok(isOperation(body));
  return body;
}

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await done()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail('it did not happen within 10 seconds');
}

const settled = (id: string, state: string) => until(async () => (await read(id)).notification?.state === state);

describe('ARM notifications', () => {
  it('are POSTed at the end of an operation, and the address is forgotten after', async () => {
    start();
    const id = await operation();
    await finish(store.container, id, { status: 'Provisioning' });
    await finish(store.container, id, { status: 'Failed', error: { code: 'QuotaExceeded', message: 'too many' } });
    await settled(id, 'delivered');
    assert.equal(received.length, 1);
    const [{ path, type, body } = assert.fail()] = received;
    assert.deepEqual([path, type], [`/notify/${id}`, 'application/json']);
    assert.equal(body.status, 'Failed');
    assert.equal(body.name, id);
    assert.match(body.id, new RegExp(`/widgetStatuses/${id}$`));
    assert.deepEqual(body.error, { code: 'QuotaExceeded', message: 'too many' });
    assert.equal((await read(id)).notificationUri, undefined);
    assert.equal((await read(id)).status, 'Failed');
  });

  it('are sent again until the receiver takes them', async () => {
    answers = [500, 404, 302];
    start();
    const id = await operation();
    await finish(store.container, id, { status: 'Succeeded' });
    await settled(id, 'delivered');
    assert.equal(received.length, 4);
    assert.equal((await read(id)).notification?.attempts, 4);
  });

  it('keep the reason of the last failure while they wait', async () => {
    answers = [503];
    start({ firstRetrySeconds: 600 });
    const id = await operation();
    await finish(store.container, id, { status: 'Succeeded' });
    await until(async () => (await read(id)).notification?.lastError !== undefined);
    const { notification, notificationUri } = await read(id);
    assert.match(notification?.lastError ?? '', /503/);
    assert.ok(Date.parse(notification?.nextAttemptAt ?? '') > Date.now() + 300_000);
    assert.ok(notificationUri);
  });

  it('survive a sender that was killed after it claimed an attempt', async () => {
    const id = await operation({
      status: 'Succeeded',
      endTime: new Date().toISOString(),
      notification: { state: 'pending', attempts: 1, nextAttemptAt: new Date(Date.now() - 1000).toISOString() },
    });
    const other = await (await store.again()).container<DemoDocument>(demoContainer);
    start({}, other);
    await settled(id, 'delivered');
    assert.equal((await read(id)).notification?.attempts, 2);
  });

  it('survive a sender that is killed while it sends', async () => {
    const arrived = Promise.withResolvers<void>();
    held = arrived.resolve;
    const script = fileURLToPath(new URL('./testing/sender-process.ts', import.meta.url));
    const caFile = `${store.file}.ca`;
    await writeFile(caFile, authorityPem);
    const child = spawn(process.execPath, [script, store.file, caFile, new URL(origin).port], { stdio: 'inherit' });
    const id = await operation();
    await finish(store.container, id, { status: 'Succeeded' });
    await arrived.promise;
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal((await read(id)).notification?.state, 'pending');
    start();
    await settled(id, 'delivered');
    assert.ok(((await read(id)).notification?.attempts ?? 0) >= 2);
  });

  it('survive a receiver that is down', async () => {
    const id = await operation({ notificationUri: 'https://localhost:1/notify' });
    await finish(store.container, id, { status: 'Succeeded' });
    const first = start();
    await until(async () => ((await read(id)).notification?.attempts ?? 0) >= 2);
    await first.stop();
    const stored = await read(id);
    assert.equal(stored.notification?.state, 'pending');
    assert.equal(stored.notificationUri, 'https://localhost:1/notify');
  });

  it('to an address that is not allowed are recorded and given up', async () => {
    start();
    const ids = await Promise.all(
      ['http://localhost/x', 'https://169.254.169.254/x', 'https://evil.example/x', 'ftp://localhost/x'].map(
        (notificationUri) => operation({ notificationUri }),
      ),
    );
    for (const id of ids) {
      await finish(store.container, id, { status: 'Succeeded' });
      await settled(id, 'refused');
      const { notification, notificationUri } = await read(id);
      assert.equal(notification?.attempts, 1);
      assert.ok(notification?.lastError);
      assert.equal(notificationUri, undefined);
    }
  });

  it('are given up when the operation’s time is over', async () => {
    const endTime = new Date(Date.now() - (operationTtlSeconds + 60) * 1000).toISOString();
    const id = await operation({ status: 'Succeeded', endTime, notification: { state: 'pending', attempts: 30 } });
    start();
    await settled(id, 'expired');
    assert.equal(received.length, 0);
  });

  it('are not sent where nobody asked for them', async () => {
    start();
    const id = await operation();
    const { notificationUri: _, ...silent } = await read(id);
    const quiet = { ...silent, operationId: randomUUID() };
    await store.container.batch(subscriptionId, [createOperation(quiet)]);
    await finish(store.container, quiet.operationId, { status: 'Succeeded' });
    await finish(store.container, id, { status: 'Succeeded' });
    await settled(id, 'delivered');
    assert.equal(received.length, 1);
    assert.equal((await read(quiet.operationId)).notification, undefined);
  });

  it('are sent by several processes without being recorded twice', async () => {
    const other = await (await store.again()).container<DemoDocument>(demoContainer);
    start();
    start({}, other);
    const ids = await Promise.all(Array.from({ length: 20 }, () => operation()));
    for (const id of ids) await finish(store.container, id, { status: 'Succeeded' });
    for (const id of ids) await settled(id, 'delivered');
    for (const id of ids) {
      const attempts = (await read(id)).notification?.attempts ?? 0;
      assert.equal(received.filter(({ body }) => body.name === id).length, attempts);
    }
  });
});
