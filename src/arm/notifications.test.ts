import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGuardedClient, type GuardedClient } from '../kit/guarded-client.ts';
import { createLogger } from '../kit/log.ts';
import { Secret } from '../kit/secret.ts';
import { createAuthority, issueServerCertificate } from '../pki/authority.ts';
import type { Container, Store } from '../store/store.ts';
import { type NotificationOptions, type NotificationSender, startNotifications } from './notifications.ts';
import {
  createOperation,
  isOperation,
  type OperationDocument,
  operationDocumentId,
  operationTtlSeconds,
} from './operation.ts';
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
  clock: Pick<Store, 'now'> = store.store,
): NotificationSender {
  const sender = startNotifications({
    container: container as unknown as Container<object>,
    store: clock,
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

async function operation(
  more: Partial<OperationDocument> = {},
  { container } = store,
  ttlSeconds = operationTtlSeconds,
): Promise<string> {
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
    notificationUri: new Secret(`${origin}/notify/${operationId}`),
    ...more,
  };
  const key = { partition: subscriptionId, id: operationDocumentId(operationId) };
  await container.create(key, document, { ttlSeconds });
  return operationId;
}

async function read(operationId: string, { container } = store): Promise<OperationDocument> {
  const body = (await container.read({ partition: subscriptionId, id: operationDocumentId(operationId) }))?.body;
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

const settled = (id: string, state: string, from = store) =>
  until(async () => (await read(id, from)).notification?.state === state);
const days = (count: number) => count * 86_400_000;

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
    const id = await operation({ notificationUri: new Secret('https://localhost:1/notify') });
    await finish(store.container, id, { status: 'Succeeded' });
    const first = start();
    await until(async () => ((await read(id)).notification?.attempts ?? 0) >= 2);
    await first.stop();
    const stored = await read(id);
    assert.equal(stored.notification?.state, 'pending');
    assert.equal(stored.notificationUri?.reveal(), 'https://localhost:1/notify');
  });

  it('to an address that is not allowed are recorded and given up', async () => {
    start();
    const ids = await Promise.all(
      ['http://localhost/x', 'https://169.254.169.254/x', 'https://evil.example/x', 'ftp://localhost/x'].map(
        (address) => operation({ notificationUri: new Secret(address) }),
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

  it('are tried again when the address of the host’s name is not allowed, which may have been a moment’s', async () => {
    const { port } = server.address() as AddressInfo;
    let asked = 0;
    const wary = createGuardedClient({
      allowedHosts: ['localhost'],
      privateHosts: ['localhost'],
      allowedPorts: [port],
      ca: authorityPem,
      timeoutSeconds: 5,
      maxResponseBytes: 65_536,
      resolve: async () => [{ address: asked++ < 2 ? '169.254.169.254' : '127.0.0.1', family: 4 }],
    });
    try {
      start({ client: wary });
      const id = await operation();
      await finish(store.container, id, { status: 'Succeeded' });
      await settled(id, 'delivered');
      assert.ok(((await read(id)).notification?.attempts ?? 0) >= 3);
    } finally {
      for (const sender of senders.splice(0)) await sender.stop();
      await wary.close();
    }
  });

  it('are sent by the store’s clock, however far ahead the clock of the process is', async () => {
    const behind = () => Date.now() - days(8);
    const other = await demoStore(behind);
    try {
      const time = new Date(behind()).toISOString();
      const nextAttemptAt = new Date(behind() - 1000).toISOString();
      const ended = { status: 'Succeeded', lastTransitionTime: time, endTime: time } as const;
      const id = await operation({ ...ended, notification: { state: 'pending', attempts: 1, nextAttemptAt } }, other);
      const waiting = new Date(behind() + 1_800_000).toISOString();
      const early = await operation(
        { ...ended, notification: { state: 'pending', attempts: 9, nextAttemptAt: waiting } },
        other,
      );
      const sender = start({}, other.container, other.store);
      await settled(id, 'delivered', other);
      await sender.sweep();
      assert.equal((await read(early, other)).notification?.attempts, 9);
    } finally {
      for (const sender of senders.splice(0)) await sender.stop();
      await other.close();
    }
  });

  it('are sent although a clock that was wrong put them off for longer than anybody waits', async () => {
    const nextAttemptAt = new Date(Date.now() + days(8)).toISOString();
    const id = await operation({
      status: 'Succeeded',
      notification: { state: 'pending', attempts: 1, nextAttemptAt },
    });
    start();
    await settled(id, 'delivered');
  });

  it('are given up with the last attempt that the operation’s time to live has room for', async () => {
    answers = [503];
    start({ firstRetrySeconds: 600 });
    const notification = { state: 'pending', attempts: 1 } as const;
    const id = await operation({ status: 'Succeeded', notification }, store, 300);
    await settled(id, 'expired');
    const { notification: end, notificationUri } = await read(id);
    assert.deepEqual([end?.attempts, notificationUri], [2, undefined]);
    assert.match(end?.lastError ?? '', /503/);
  });

  it('do not lengthen the life of the operation', async () => {
    answers = [503, 503];
    start();
    const id = await operation({ status: 'Succeeded', notification: { state: 'pending', attempts: 0 } }, store, 3000);
    await settled(id, 'delivered');
    const stored = await store.container.read({ partition: subscriptionId, id: operationDocumentId(id) });
    assert.ok((stored?.expiresAt ?? Number.POSITIVE_INFINITY) <= (await store.store.now()) + 3_001_000);
  });

  it('are given up after many attempts', async () => {
    answers = [503];
    start();
    const id = await operation({ status: 'Succeeded', notification: { state: 'pending', attempts: 249 } });
    await settled(id, 'expired');
    assert.equal(received.length, 1);
  });

  it('have their address sealed in the database, and shown nowhere', async () => {
    const address = `${origin}/notify/capability-${randomUUID()}`;
    const id = await operation({ notificationUri: new Secret(address) });
    const stored = await read(id);
    assert.equal(stored.notificationUri?.reveal(), address);
    assert.ok(!JSON.stringify(stored).includes('capability'));
    for (const file of [store.file, `${store.file}-wal`]) {
      assert.ok(!(await readFile(file, 'latin1').catch(() => '')).includes(address), file);
    }
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
