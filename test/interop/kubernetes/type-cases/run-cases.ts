// Puts the cases of the built-in types, of tables and of discovery to a real kube-apiserver.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '../../../../src/local/kubernetes/object.ts';
import { builtinTypes } from '../../../../src/local/kubernetes/types/builtin.ts';
import type { ResourceType } from '../../../../src/local/kubernetes/types/resource-type.ts';
import { type RealApiServer, startApiServer } from '../real-api-server.ts';
import { tableCases } from '../table-cases.ts';
import type { AcceptedCase } from './case.ts';
import { acceptedCreates, refusedCreates, refusedUpdates } from './cases.ts';

/** What the server answered, by the name of the file that keeps it, then by case. */
export type RecordedTypes = Readonly<
  Record<'discovery' | 'accepted' | 'refusedCreates' | 'refusedUpdates' | 'tables', Readonly<Record<string, JsonValue>>>
>;

/** A server whose admission leaves objects as the types make them. */
export const startTypesServer = (programs: string): Promise<RealApiServer> =>
  startApiServer(programs, {
    flags: [
      '--allow-privileged=true',
      '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,TaintNodesByCondition,StorageObjectInUseProtection',
    ],
  });

/** What is asked for besides plain JSON, by what stands after `#` in a path. */
const forms: Readonly<Record<string, string>> = {
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  aggregated: 'application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io',
};

const groupVersions = new Set(
  builtinTypes().map(({ group, version }) => (group ? `/apis/${group}/${version}` : `/api/${version}`)),
);
const discoveryPaths = ['/api#aggregated', '/apis#aggregated', '/apis', '/apis/apps', ...groupVersions];

/** What controllers within the server write the status of, and how long they may take. */
const settling = /^api(extensions|registration)/;
const settleMilliseconds = 1500;

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

type Ask = (method: string, path: string, body?: JsonValue, contentType?: string) => Promise<Answer>;

const asker =
  (server: RealApiServer): Ask =>
  async (method, path, body, contentType) => {
    const [plain = '', form = ''] = path.split('#');
    const { status, body: answer } = await server.call(method, plain, {
      body,
      accept: forms[form] ?? 'application/json',
      ...(contentType ? { contentType } : {}),
    });
    return { status, body: (typeof answer === 'string' ? { text: answer } : answer) as JsonObject };
  };

function typeOf(resource: string): ResourceType {
  const found = builtinTypes().find(
    ({ group, version, plural }) => resource === [...(group ? [group] : []), version, plural].join('/'),
  );
  if (!found) throw new Error(`no type is known for ${resource}`);
  return found;
}

function urlOf({ resource }: AcceptedCase): string {
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

const renamed = (body: JsonObject, name: string): JsonObject => ({
  ...body,
  metadata: { ...(body.metadata as JsonObject), name },
});

const refusal = ({ status, body }: Answer): JsonObject => ({
  code: status,
  reason: body.reason ?? '',
  message: body.message ?? '',
  details: body.details ?? {},
});

/** Throws for all that did not go as the cases say. */
export async function runCases(server: RealApiServer): Promise<RecordedTypes> {
  const ask = asker(server);
  const problems: string[] = [];
  /** Notes what was not answered so. */
  const expect = (status: number, what: string, answer: Answer): Answer => {
    if (status === 0 ? answer.body.kind !== 'Status' : answer.status !== status)
      problems.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const accepted: JsonObject = {};
  for (const each of acceptedCreates) {
    const made = expect(201, each.name, await ask('POST', `${urlOf(each)}?dryRun=All`, each.body));
    if (made.status === 201) accepted[each.name] = lasting(made.body);
  }
  const creates: JsonObject = {};
  for (const each of refusedCreates) {
    const name = `${each.resource} ${each.name}`;
    creates[name] = refusal(expect(0, name, await ask('POST', `${urlOf(each)}?dryRun=All`, each.body)));
  }
  const updates: JsonObject = {};
  for (const [index, each] of refusedUpdates.entries()) {
    const name = `${each.resource} ${each.name}`;
    const url = `${urlOf(each)}/u${index}`;
    expect(201, name, await ask('POST', urlOf(each), renamed(each.body, `u${index}`)));
    updates[name] = refusal(expect(0, name, await ask('PATCH', url, each.change, 'application/merge-patch+json')));
  }
  const discovery: JsonObject = {};
  for (const path of discoveryPaths) discovery[path] = expect(200, path, await ask('GET', path)).body;
  const tables: JsonObject = {};
  for (const [index, each] of tableCases.entries()) {
    const called = `${each.resource} ${each.name}`;
    const given = String((each.body.metadata as JsonObject).name);
    const name = given === 'x' ? `t${index}` : given;
    const url = `${urlOf(each)}/${name}`;
    expect(201, `table ${called}`, await ask('POST', urlOf(each), renamed(each.body, name)));
    if (each.name === 'terminating') await ask('DELETE', url);
    for (const [subresource, change] of Object.entries(each.then ?? {})) {
      const path = `${url}${subresource ? `/${subresource}` : ''}`;
      expect(200, `table ${called}`, await ask('PATCH', path, change, 'application/merge-patch+json'));
    }
    if (settling.test(each.resource)) await sleep(settleMilliseconds);
    tables[called] = await tableOf(ask, url);
    // Quotas, limits and webhooks would have a say in what follows.
    await ask('DELETE', `${url}?gracePeriodSeconds=0`);
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return { discovery, accepted, refusedCreates: creates, refusedUpdates: updates, tables };
}

async function tableOf(ask: Ask, url: string): Promise<JsonObject> {
  const { body } = await ask('GET', `${url}#table`);
  const object = await ask('GET', url);
  const [row] = (body.rows ?? []) as JsonObject[];
  return {
    columns: ((body.columnDefinitions ?? []) as JsonObject[]).map(({ description, ...rest }) => rest),
    cells: row?.cells ?? null,
    ...(row?.conditions ? { conditions: row.conditions } : {}),
    object: withoutManagers(object.body),
  };
}
