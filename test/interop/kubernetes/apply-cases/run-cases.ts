// Puts the cases of field tracking, server-side apply and patches to a real kube-apiserver.
import { setTimeout as sleep } from 'node:timers/promises';
import { applyMergePatch } from '../../../../src/local/kubernetes/patch/merge-patch.ts';
import { type RealApiServer, startApiServer } from '../real-api-server.ts';
import { type Case, type Json, type JsonMap, type Resource, resources, type Step } from './case.ts';
import { customSchemas } from './custom-resources.ts';

/** The object before the request, the request as it was sent, and what became of it. */
export interface RecordedCase {
  readonly name: string;
  readonly resource: Resource;
  readonly live: Json;
  readonly request: {
    readonly verb: Step['verb'];
    readonly manager: string;
    readonly force: boolean;
    readonly subresource: string;
    readonly body: Json;
  };
  readonly status: number;
  readonly result: Json;
}

/** A server whose admission adds nothing to pods that no case asks for. */
export const startBareServer = (programs: string): Promise<RealApiServer> =>
  startApiServer(programs, {
    flags: ['--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,TaintNodesByCondition'],
  });

const patchTypes: Readonly<Record<string, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

interface Answer {
  readonly status: number;
  readonly body: Json;
}

const ask = async (
  ...[server, method, path, body, contentType]: readonly [
    server: RealApiServer,
    method: string,
    path: string,
    body?: Json,
    contentType?: string,
  ]
): Promise<Answer> => {
  const answer = await server.call(method, path, { body, ...(contentType ? { contentType } : {}) });
  return { status: answer.status, body: answer.body as Json };
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

async function perform(server: RealApiServer, found: Case, name: string, step: Step): Promise<Answer & { sent: Json }> {
  const query = `?fieldManager=${step.manager}${step.force ? '&force=true' : ''}`;
  const path = collection(found);
  let body = sent(found, name, step);
  if (step.verb === 'create') return { sent: body, ...(await ask(server, 'POST', path + query, body)) };
  const object = `${path}/${name}${step.subresource ? `/${step.subresource}` : ''}`;
  if (step.verb === 'update') {
    body = applyMergePatch((await ask(server, 'GET', object)).body as JsonMap, body) as Json;
    return { sent: body, ...(await ask(server, 'PUT', object + query, body)) };
  }
  return { sent: body, ...(await ask(server, 'PATCH', object + query, body, patchTypes[step.verb])) };
}

async function defineResources(server: RealApiServer): Promise<void> {
  for (const [plural, schema] of Object.entries(customSchemas)) {
    const { group, version, kind, status } = resources[plural as keyof typeof customSchemas];
    const answer = await ask(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
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

/** Throws when what comes before a case is refused. */
export async function runCases(server: RealApiServer, cases: readonly Case[]): Promise<readonly RecordedCase[]> {
  await defineResources(server);
  const failed: string[] = [];
  for (const [index, found] of cases.entries()) {
    for (const step of found.first) {
      const answer = await perform(server, found, `case-${index}`, step);
      if (answer.status >= 300) failed.push(`${found.name}: ${JSON.stringify(answer.body)}`);
    }
  }
  if (failed.length > 0) throw new Error(`what comes before a case must succeed:\n${failed.join('\n')}`);
  // Times are written in seconds: what the request changes must be told from what was there.
  await sleep(2000);
  const recorded: RecordedCase[] = [];
  for (const [index, found] of cases.entries()) {
    const name = `case-${index}`;
    const object = `${collection(found)}/${name}`;
    const live = found.first.length > 0 ? (await ask(server, 'GET', object)).body : null;
    const { sent: body, status, body: answer } = await perform(server, found, name, found.request);
    const { verb, manager, force = false, subresource = '' } = found.request;
    // The scale endpoint answers with a Scale; what became of the object is asked for.
    const result = subresource === 'scale' ? (await ask(server, 'GET', object)).body : answer;
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
  return recorded;
}
