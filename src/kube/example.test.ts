import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../kit/log.ts';
import { createInformers } from './informers.ts';
import { leases } from './lease.ts';
import type { KubeObject } from './object.ts';
import { resource } from './resource.ts';
import { embeddedServer } from './testing/embedded-server.ts';
import { start } from './testing/example-controller.ts';
import { until } from './testing/small-api.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const namespaces = resource('v1', 'Namespace', 'namespaces', 'Cluster');
const configMaps = resource<KubeObject & { data?: Record<string, string> }>('v1', 'ConfigMap', 'configmaps');

test('the controller of the document greets, repairs, takes back, and hands over when it stops', async (t) => {
  const server = await embeddedServer(t);
  const client = server.client();
  const greeting = { namespace: 'blue', name: 'greeting' };
  const informers = createInformers({ client });
  const known = informers.informer(configMaps, { namespace: 'blue' });
  informers.start();
  t.after(() => informers.stop());
  const textOf = (): string | undefined => known.get(greeting)?.data?.text;
  const label = (value: string | null) =>
    client.patch(namespaces, { name: 'blue' }, 'merge', { metadata: { labels: { greeting: value } } });
  await client.create(namespaces, { metadata: { name: 'blue', labels: { greeting: 'Hello' } } });

  const first = await start({ access: server.access, logger, identity: 'first' });
  t.after(() => first.stop());
  await first.ready;
  await until(() => textOf() === 'Hello, blue');
  const before = known.get(greeting)?.metadata.uid;
  await client.delete(configMaps, greeting);
  await until(() => textOf() === 'Hello, blue' && known.get(greeting)?.metadata.uid !== before);
  await label(null);
  await until(() => textOf() === undefined);

  const second = await start({ access: server.access, logger, identity: 'second' });
  t.after(() => second.stop());
  await second.ready;
  await first.stop();
  await label('Welcome');
  await until(() => textOf() === 'Welcome, blue');
  const lease = await client.get(leases, { namespace: 'kube-system', name: 'greeter' });
  assert.equal(lease.spec?.holderIdentity, 'second');
});
