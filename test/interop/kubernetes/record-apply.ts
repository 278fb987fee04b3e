// Records what a real kube-apiserver answers to the cases of apply-cases/, for the tests that hold our own field tracking,
// server-side apply and patches to it:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record-apply.ts
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { applyMergePatch } from '../../../src/local/kubernetes/patch/merge-patch.ts';
import { type Case, type Json, type JsonMap, resources, type Step } from './apply-cases/case.ts';
import { cases } from './apply-cases/cases.ts';
import { customSchemas } from './apply-cases/custom-resources.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (!assets) {
  process.stderr.write('KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver\n');
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'record-apply-'));
const token = 'recorder';
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
const children: ChildProcess[] = [];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

function run(program: string, ...parameters: string[]): void {
  children.push(spawn(join(assets ?? '', program), parameters, { stdio: 'ignore', cwd: folder }));
}

async function start(): Promise<string> {
  const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
  writeFileSync(join(folder, 'sa.key'), key, { mode: 0o600 });
  writeFileSync(join(folder, 'tokens.csv'), `${token},recorder,1,"system:masters"\n`, { mode: 0o600 });
  const etcd = `http://127.0.0.1:${client}`;
  run(
    'etcd',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    '--log-level=error',
  );
  run(
    'kube-apiserver',
    `--etcd-servers=${etcd}`,
    `--cert-dir=${join(folder, 'certs')}`,
    `--secure-port=${secure}`,
    '--bind-address=127.0.0.1',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-key-file=sa.key',
    '--service-account-signing-key-file=sa.key',
    '--authorization-mode=RBAC',
    '--token-auth-file=tokens.csv',
    '--service-cluster-ip-range=10.0.0.0/16',
    // They would add to pods what no case asks for.
    '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,TaintNodesByCondition',
  );
  const base = `https://127.0.0.1:${secure}`;
  for (let attempt = 0; attempt < 120; attempt += 1) {
    await sleep(500);
    const ready = await call(base, 'GET', '/readyz').catch(() => undefined);
    if (ready?.status === 200) return base;
  }
  throw new Error('the API server did not become ready');
}

interface Answer {
  readonly status: number;
  readonly body: Json;
}

async function call(
  base: string,
  method: string,
  path: string,
  body?: Json,
  type = 'application/json',
): Promise<Answer> {
  const response = await request(base + path, {
    method: method as 'GET',
    dispatcher,
    headers: { authorization: `Bearer ${token}`, 'content-type': type, 'user-agent': 'recorder' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  return { status: response.statusCode, body: text.startsWith('{') ? (JSON.parse(text) as Json) : text };
}

const patchTypes: Readonly<Record<string, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

function collection({ resource }: Case): string {
  const { group, version, namespaced } = resources[resource];
  return `${group ? `/apis/${group}` : '/api'}/${version}${namespaced ? '/namespaces/default' : ''}/${resource}`;
}

/** The body as it is sent: with the type and name where the case leaves them to us. */
function sent(found: Case, name: string, step: Step): Json {
  if (step.verb !== 'create' && step.verb !== 'apply') return step.body;
  const { group, version, kind } = resources[found.resource];
  const body = step.body as JsonMap;
  const metadata = body.metadata as JsonMap | undefined;
  return {
    apiVersion: group ? `${group}/${version}` : version,
    kind,
    ...body,
    metadata: metadata?.generateName ? metadata : { name, ...metadata },
  };
}

async function perform(base: string, found: Case, name: string, step: Step): Promise<Answer & { sent: Json }> {
  const query = `?fieldManager=${step.manager}${step.force ? '&force=true' : ''}`;
  const path = collection(found);
  let body = sent(found, name, step);
  if (step.verb === 'create') return { sent: body, ...(await call(base, 'POST', path + query, body)) };
  const object = `${path}/${name}${step.subresource ? `/${step.subresource}` : ''}`;
  if (step.verb === 'update') {
    body = applyMergePatch((await call(base, 'GET', object)).body as JsonMap, body) as Json;
    return { sent: body, ...(await call(base, 'PUT', object + query, body)) };
  }
  return { sent: body, ...(await call(base, 'PATCH', object + query, body, patchTypes[step.verb])) };
}

async function defineResources(base: string): Promise<void> {
  for (const [plural, schema] of Object.entries(customSchemas)) {
    const { group, version, kind, status } = resources[plural as keyof typeof customSchemas];
    const answer = await call(base, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
            ...(status ? { subresources: { status: {} } } : {}),
          },
        ],
      },
    });
    if (answer.status !== 201)
      throw new Error(`the definition of ${plural} was refused: ${JSON.stringify(answer.body)}`);
  }
  // Until the schema is published, fields are tracked as if there were none.
  await sleep(8000);
}

async function record(base: string): Promise<void> {
  await defineResources(base);
  const prepared = [];
  const failed: string[] = [];
  for (const [index, found] of cases.entries()) {
    const name = `case-${index}`;
    for (const step of found.first) {
      const answer = await perform(base, found, name, step);
      if (answer.status >= 300) failed.push(`${found.name}: ${JSON.stringify(answer.body)}`);
    }
    prepared.push({ found, name });
  }
  if (failed.length > 0) throw new Error(`what comes before a case must succeed:\n${failed.join('\n')}`);
  // Times are written in seconds: what the request changes must be told from what was there.
  await sleep(2000);
  const recorded = [];
  for (const { found, name } of prepared) {
    const live = found.first.length > 0 ? (await call(base, 'GET', `${collection(found)}/${name}`)).body : null;
    const { sent: body, status, body: answer } = await perform(base, found, name, found.request);
    const { verb, manager, force = false, subresource = '' } = found.request;
    // The scale endpoint answers with a Scale; what became of the object is asked for.
    const result = subresource === 'scale' ? (await call(base, 'GET', `${collection(found)}/${name}`)).body : answer;
    const big = JSON.stringify(body).length > 20_000;
    recorded.push({
      name: found.name,
      resource: found.resource,
      live,
      // A body of many equal operations is known by its first and their number.
      request: {
        verb,
        manager,
        force,
        subresource,
        body: big && Array.isArray(body) ? { repeat: body[0] as Json, times: body.length } : body,
      },
      status,
      result,
    });
  }
  const target = join(import.meta.dirname, 'recorded');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'apply.json'), `[\n${recorded.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`);
  process.stdout.write(`${recorded.length} cases recorded\n`);
}

try {
  await record(await start());
} finally {
  for (const child of children.reverse()) {
    child.kill();
    await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(undefined)));
  }
  await dispatcher.close();
  rmSync(folder, { recursive: true, force: true });
}
