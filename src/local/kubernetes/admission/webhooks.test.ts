import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createAuthority, issueServerCertificate } from '../../../pki/authority.ts';
import { keyPem } from '../../../pki/keys.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { admittedCluster, refusal } from './testing/admitted-cluster.ts';
import { createWebhookCaller } from './webhook-call.ts';

type Decide = (request: { uid: string; object: KubeObject; [member: string]: unknown }) => JsonObject | undefined;

const caller = createWebhookCaller((_cluster, { name }) => (name === 'hook' ? { host: '127.0.0.1', port } : undefined));
const seen: JsonObject[] = [];
let server: Server;
let port = 0;
let caBundle = '';
/** What the webhook server answers, by path. An answer that is left out never comes. */
const paths = new Map<string, Decide>();

before(async () => {
  const authority = await createAuthority({ name: 'webhooks' });
  const leaf = await issueServerCertificate(authority, {
    dnsNames: ['hook.default.svc'],
    ipAddresses: ['127.0.0.1'],
  });
  caBundle = Buffer.from(authority.certificatePem).toString('base64');
  server = createServer({ cert: leaf.certificatePem, key: keyPem(leaf.key) }, async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const review = JSON.parse(text) as { request: Parameters<Decide>[0] };
    seen.push(review.request as unknown as JsonObject);
    const path = request.url?.split('?')[0] ?? '';
    const answer = paths.get(path)?.(review.request);
    if (!answer) return;
    const body = {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid: review.request.uid, ...answer },
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

after(async () => {
  await caller.close();
  server.closeAllConnections();
  server.close();
});

const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
const hook = (path: string, more: JsonObject = {}): JsonObject => ({
  name: `${path.slice(1)}.example.com`,
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { url: `https://127.0.0.1:${port}${path}`, caBundle },
  rules,
  ...more,
});

type Kind = 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations';
async function withHooks(kind: Kind, ...webhooks: JsonObject[]): ReturnType<typeof admittedCluster> {
  seen.length = 0;
  const cluster = await admittedCluster({ webhooks: caller });
  await cluster.create(`admissionregistration.k8s.io/v1/${kind}`, '', { metadata: { name: 'w' }, webhooks });
  return cluster;
}

const make = ({ create }: Awaited<ReturnType<typeof admittedCluster>>, name = 'c', as = {}): Promise<KubeObject> =>
  create('/v1/configmaps', 'default', { metadata: { name, labels: { app: 'x' } }, data: { a: 'b' } }, as);

const patchOf = (operations: readonly object[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

test('a validating webhook sees the request and may refuse it', async () => {
  paths.set('/deny', () => ({ allowed: false, status: { code: 403, message: 'not today' }, warnings: ['careful'] }));
  const cluster = await withHooks('validatingwebhookconfigurations', hook('/deny'));
  assert.equal(await refusal(make(cluster)), '403 admission webhook "deny.example.com" denied the request: not today');
  assert.deepEqual(cluster.warnings, ['careful']);
  const { uid: _, object, ...rest } = seen[0] ?? {};
  assert.deepEqual((object as unknown as KubeObject).data, { a: 'b' });
  assert.deepEqual(rest, {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'c',
    namespace: 'default',
    operation: 'CREATE',
    userInfo: { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'test' },
  });
  paths.set('/mute', () => ({ allowed: false }));
  const mute = await withHooks('validatingwebhookconfigurations', hook('/mute'));
  assert.equal(
    await refusal(make(mute)),
    '400 admission webhook "mute.example.com" denied the request without explanation',
  );
});

test('mutating webhooks change the object one after the other, and look again when asked to', async () => {
  const order: string[] = [];
  paths.set('/first', ({ object }) => {
    order.push('first');
    const { data } = object as unknown as { data: Record<string, string> };
    return patchOf([{ op: 'add', path: '/data/first', value: data.second ?? 'not yet' }]);
  });
  paths.set('/second', () => {
    order.push('second');
    return patchOf([{ op: 'add', path: '/data/second', value: 'done' }]);
  });
  const again = hook('/first', { reinvocationPolicy: 'IfNeeded' });
  const cluster = await withHooks('mutatingwebhookconfigurations', again, hook('/second'));
  assert.deepEqual((await make(cluster)).data, { a: 'b', first: 'done', second: 'done' });
  assert.deepEqual(order, ['first', 'second', 'first']);
});

test('selectors and rules decide who is asked', async () => {
  paths.set('/never', () => ({ allowed: false }));
  const cluster = await withHooks(
    'validatingwebhookconfigurations',
    hook('/never', { objectSelector: { matchLabels: { app: 'other' } } }),
    hook('/never', {
      name: 'ns.example.com',
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
    }),
    hook('/never', { name: 'del.example.com', rules: [{ ...rules[0], operations: ['DELETE'] }] }),
    hook('/never', { name: 'sub.example.com', rules: [{ ...rules[0], resources: ['*/status', 'secrets'] }] }),
  );
  assert.match(await refusal(make(cluster)), /^not refused/);
  assert.equal(seen.length, 0);
});

test('a service is reached by its name in the certificate', async () => {
  paths.set('/svc', () => ({ allowed: false, status: { message: 'from the service' } }));
  const service = { namespace: 'default', name: 'hook', path: '/svc' };
  const cluster = await withHooks(
    'validatingwebhookconfigurations',
    hook('/svc', { clientConfig: { service, caBundle } }),
  );
  assert.equal(
    await refusal(make(cluster)),
    '500 Internal error occurred: failed calling webhook "svc.example.com": failed to call webhook: Post "https://hook.default.svc:443/svc?timeout=10s": service "hook" not found',
  );
  await cluster.create('/v1/services', 'default', { metadata: { name: 'hook' }, spec: { ports: [{ port: 443 }] } });
  assert.equal(
    await refusal(make(cluster)),
    '400 admission webhook "svc.example.com" denied the request: from the service',
  );
});

test('a webhook that cannot be asked refuses or is passed over, as its failure policy says', async () => {
  const dead = { clientConfig: { url: 'https://127.0.0.1:9/x', caBundle } };
  const fails = await withHooks('validatingwebhookconfigurations', hook('/x', { ...dead, timeoutSeconds: 2 }));
  assert.equal(
    await refusal(make(fails)),
    '500 Internal error occurred: failed calling webhook "x.example.com": failed to call webhook: Post "https://127.0.0.1:9/x?timeout=2s": dial tcp 127.0.0.1:9: connect: connection refused',
  );
  const ignored = await withHooks('validatingwebhookconfigurations', hook('/x', { ...dead, failurePolicy: 'Ignore' }));
  assert.match(await refusal(make(ignored)), /^not refused/);
  paths.set('/slow', () => undefined);
  const slow = await withHooks('validatingwebhookconfigurations', hook('/slow', { timeoutSeconds: 1 }));
  assert.match(await refusal(make(slow)), /Post "https:[^ ]+slow\?timeout=1s": context deadline exceeded$/);
  const foreign = { url: `https://127.0.0.1:${port}/deny` };
  const untrusted = await withHooks('validatingwebhookconfigurations', hook('/deny', { clientConfig: foreign }));
  assert.match(await refusal(make(untrusted)), /x509: certificate signed by unknown authority$/);
});

test('the platform of the host is out of reach', async () => {
  const metadata = { url: 'https://169.254.169.254/latest' };
  const cluster = await withHooks('validatingwebhookconfigurations', hook('/m', { clientConfig: metadata }));
  assert.match(await refusal(make(cluster)), /the address 169\.254\.169\.254 is not allowed$/);
});

test('a dry run asks webhooks without side effects', async () => {
  paths.set('/dry', ({ dryRun }) => ({ allowed: false, status: { message: `dry run: ${String(dryRun)}` } }));
  const cluster = await withHooks('validatingwebhookconfigurations', hook('/dry', { sideEffects: 'NoneOnDryRun' }));
  assert.match(await refusal(make(cluster, 'c', { dryRun: true })), /dry run: true$/);
});

test('webhooks do not decide about webhooks', async () => {
  paths.set('/lock', () => ({ allowed: false }));
  const everything = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }];
  const cluster = await withHooks('validatingwebhookconfigurations', hook('/lock', { rules: everything }));
  assert.match(await refusal(make(cluster)), /denied the request/);
  await cluster.remove('admissionregistration.k8s.io/v1/validatingwebhookconfigurations', '', 'w');
  assert.match(await refusal(make(cluster)), /^not refused/);
});

test('what webhooks say, and what became of them, is noted for the audit log', async () => {
  paths.set('/noted', () => ({ ...patchOf([]), auditAnnotations: { why: 'because' } }));
  const gone = hook('/gone', { clientConfig: { url: 'https://127.0.0.1:1/', caBundle }, failurePolicy: 'Ignore' });
  const cluster = await withHooks('mutatingwebhookconfigurations', hook('/noted'), gone);
  await make(cluster);
  assert.deepEqual(cluster.notes, {
    'noted.example.com/why': 'because',
    'mutation.webhook.admission.k8s.io/round_0_index_0': JSON.stringify({
      configuration: 'w',
      webhook: 'noted.example.com',
      mutated: false,
    }),
    'failed-open.mutation.webhook.admission.k8s.io/round_0_index_1': 'gone.example.com',
  });
});
