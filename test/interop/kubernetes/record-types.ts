// Records what a real kube-apiserver makes of the objects of type-cases.ts, for the tests that hold our own types to it:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record-types.ts
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { JsonObject, JsonValue } from '../../../src/local/kubernetes/object.ts';
import { builtinTypes } from '../../../src/local/kubernetes/types/builtin.ts';
import type { ResourceType } from '../../../src/local/kubernetes/types/resource-type.ts';
import { tableCases } from './table-cases.ts';
import { acceptedCreates, type CreateCase, refusedCreates, refusedUpdates } from './type-cases.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (!assets) {
  process.stderr.write('KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver\n');
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'record-types-'));
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

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** What is asked for besides plain JSON, by what stands after `#` in a path. */
const forms: Readonly<Record<string, string>> = {
  '#table': 'application/json;as=Table;v=v1;g=meta.k8s.io',
  '#aggregated': 'application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io',
};

const groupVersions = new Set(
  builtinTypes().map(({ group, version }) => (group ? `/apis/${group}/${version}` : `/api/${version}`)),
);
const discoveryPaths = ['/api#aggregated', '/apis#aggregated', '/apis', '/apis/apps', ...groupVersions];

async function call(
  base: string,
  method: string,
  path: string,
  body?: JsonValue,
  type = 'application/json',
): Promise<Answer> {
  const answer = await request(base + path, {
    method: method as 'GET',
    dispatcher,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': type,
      accept: forms[new URL(base + path).hash] ?? 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: (text.startsWith('{') ? JSON.parse(text) : { text }) as JsonObject };
}

async function start(): Promise<string> {
  const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
  writeFileSync(join(folder, 'sa.key'), key, { mode: 0o600 });
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,1,"system:masters"\n`, { mode: 0o600 });
  const etcd = `http://127.0.0.1:${client}`;
  run(
    'etcd',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    '--unsafe-no-fsync',
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
    '--allow-privileged=true',
    '--service-cluster-ip-range=10.0.0.0/24',
    // What admission adds is not the types' doing.
    '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,TaintNodesByCondition,StorageObjectInUseProtection',
  );
  const base = `https://127.0.0.1:${secure}`;
  for (let attempt = 0; attempt < 120; attempt += 1) {
    await sleep(500);
    const ready = await call(base, 'GET', '/readyz').catch(() => undefined);
    if (ready?.status === 200) return base;
  }
  throw new Error('the API server did not become ready');
}

function typeOf(resource: string): ResourceType {
  const found = builtinTypes().find(
    ({ group, version, plural }) => resource === [...(group ? [group] : []), version, plural].join('/'),
  );
  if (!found) throw new Error(`no type is known for ${resource}`);
  return found;
}

function urlOf({ resource }: CreateCase): string {
  const { group, version, plural, namespaced } = typeOf(resource);
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  return `${root}${namespaced ? '/namespaces/default' : ''}/${plural}`;
}

function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields, ...metadata } = object.metadata as JsonObject;
  return { ...object, metadata };
}

/** Without what differs from run to run. */
function lasting(object: JsonObject): JsonObject {
  const { uid, creationTimestamp, resourceVersion, managedFields, ...metadata } = object.metadata as JsonObject;
  return { ...object, metadata };
}

/** What did not go as the case says; the recording is not written then. */
const problems: string[] = [];

const refusal = ({ status, body }: Answer, name: string): JsonObject => {
  if (body.kind !== 'Status') problems.push(`${name} was not refused`);
  return { code: status, reason: body.reason ?? '', message: body.message ?? '', details: body.details ?? {} };
};

const renamed = (body: JsonObject, name: string): JsonObject => ({
  ...body,
  metadata: { ...(body.metadata as JsonObject), name },
});

async function record(base: string): Promise<JsonObject> {
  const accepted: JsonObject = {};
  for (const each of acceptedCreates) {
    const { status, body } = await call(base, 'POST', `${urlOf(each)}?dryRun=All`, each.body);
    if (status !== 201) problems.push(`${each.name} was refused: ${JSON.stringify(body)}`);
    else accepted[each.name] = lasting(body);
  }
  const creates: JsonObject = {};
  for (const each of refusedCreates) {
    const answer = await call(base, 'POST', `${urlOf(each)}?dryRun=All`, each.body);
    creates[`${each.resource} ${each.name}`] = refusal(answer, `${each.resource} ${each.name}`);
  }
  const updates: JsonObject = {};
  for (const [index, each] of refusedUpdates.entries()) {
    const name = `u${index}`;
    const made = await call(base, 'POST', urlOf(each), renamed(each.body, name));
    if (made.status !== 201) problems.push(`${each.resource} ${each.name}: ${JSON.stringify(made.body)}`);
    const answer = await call(base, 'PATCH', `${urlOf(each)}/${name}`, each.change, 'application/merge-patch+json');
    updates[`${each.resource} ${each.name}`] = refusal(answer, `${each.resource} ${each.name}`);
  }
  const tables: JsonObject = {};
  const discovery: JsonObject = {};
  for (const path of discoveryPaths) {
    const { status, body } = await call(base, 'GET', path);
    if (status !== 200) problems.push(`${path}: ${status}`);
    discovery[path] = body;
  }
  for (const [index, each] of tableCases.entries()) {
    const name =
      (each.body.metadata as JsonObject).name === 'x' ? `t${index}` : String((each.body.metadata as JsonObject).name);
    const made = await call(base, 'POST', urlOf(each), renamed(each.body, name));
    if (made.status !== 201) problems.push(`table ${each.resource} ${each.name}: ${JSON.stringify(made.body)}`);
    if (each.name === 'terminating') await call(base, 'DELETE', `${urlOf(each)}/${name}`);
    for (const [subresource, change] of Object.entries(each.then ?? {})) {
      const path = `${urlOf(each)}/${name}${subresource ? `/${subresource}` : ''}`;
      const changed = await call(base, 'PATCH', path, change, 'application/merge-patch+json');
      if (changed.status !== 200) problems.push(`table ${each.resource} ${each.name}: ${JSON.stringify(changed.body)}`);
    }
    const { body } = await call(base, 'GET', `${urlOf(each)}/${name}#table`);
    const object = await call(base, 'GET', `${urlOf(each)}/${name}`);
    const [row] = (body.rows ?? []) as JsonObject[];
    tables[`${each.resource} ${each.name}`] = {
      columns: ((body.columnDefinitions ?? []) as JsonObject[]).map(({ description, ...rest }) => rest),
      cells: row?.cells ?? null,
      ...(row?.conditions ? { conditions: row.conditions } : {}),
      object: withoutManagers(object.body),
    };
    // Quotas, limits and webhooks would have a say in what follows.
    await call(base, 'DELETE', `${urlOf(each)}/${name}?gracePeriodSeconds=0`);
  }
  return { discovery, accepted, refusedCreates: creates, refusedUpdates: updates, tables };
}

try {
  const base = await start();
  const recorded = await record(base);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  for (const [name, value] of Object.entries(recorded)) {
    const file = new URL(`./data/types-${name}.json`, import.meta.url);
    const lines = Object.entries(value as JsonObject).map(
      ([key, entry]) => `${JSON.stringify(key)}:${JSON.stringify(entry)}`,
    );
    writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  await dispatcher.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
