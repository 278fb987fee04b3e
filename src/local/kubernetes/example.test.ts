import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { createLogger } from '../../kit/log.ts';
import { type Client, clientOver, type Watching } from './http/testing/server.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { KubeObject } from './object.ts';
import { present } from './objects/testing/hosts.ts';
import { startExample } from './testing/example-host.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const namespace = '/api/v1/namespaces/default';

interface Seen extends KubeObject {
  status?: { phase?: string; loadBalancer?: { ingress?: unknown } };
}

/** Reads a watch until an object of this name is as wanted. */
async function seen(watch: Watching, name: string, wanted: (object: Seen) => boolean): Promise<Seen> {
  for (let event = await watch.next(); event; event = await watch.next()) {
    if (event.object.metadata.name === name && wanted(event.object)) return event.object;
  }
  throw new Error(`the watch ended before ${name} was as wanted`);
}

const create = async (client: Client, path: string, object: object): Promise<void> => {
  const made = await client.request('POST', `${namespace}/${path}`, { body: object });
  assert.equal(made.status, 201, made.text);
};

const pod = (name: string, container: string, labels: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { containers: [{ name: container, image: 'registry.local/rp:1' }], restartPolicy: 'Never' },
});

test('the host of the document has stages, a service behind a pod, addresses and a port of its own', async (t) => {
  const { running, log, url } = await startExample({ logger, service: { host: '127.0.0.1', port: 1 }, issuers: [] });
  t.after(() => running.stop());
  const one = present(running.clusters.find('one'));
  const { certificate, key, ca } = await kubeconfigOf(one);
  const session = connect(url, { ca, cert: certificate, key: key.reveal() });
  t.after(() => session.destroy());
  await once(session, 'connect');
  const client = clientOver(session, {});
  await seen(await client.watch(`${namespace}/serviceaccounts?watch=true`), 'default', () => true);

  const pods = await client.watch(`${namespace}/pods?watch=true`);
  const services = await client.watch(`${namespace}/services?watch=true`);
  await create(client, 'pods', pod('unlucky', 'c', { flaky: 'yes' }));
  await seen(pods, 'unlucky', ({ status }) => status?.phase === 'Failed');

  await create(client, 'pods', pod('rp-0', 'rp', { app: 'rp' }));
  await seen(pods, 'rp-0', ({ status }) => status?.phase === 'Running');
  log.write('listening');
  assert.equal((await client.request('GET', `${namespace}/pods/rp-0/log`)).text, 'listening\n');

  await create(client, 'services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'rp' },
    spec: { type: 'LoadBalancer', selector: { app: 'rp' }, ports: [{ port: 443, targetPort: 8443 }] },
  });
  const { status } = await seen(services, 'rp', (service) => service.status?.loadBalancer?.ingress !== undefined);
  assert.deepEqual(status?.loadBalancer?.ingress, [{ ip: '192.0.2.10', ipMode: 'VIP' }]);
});
