// Calls that Resource Manager makes to providers by itself, and follows to their end.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ArmError, type ErrorBody, notFound } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { ArmResource, Json } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import type { Endpoint } from './endpoint.ts';
import type { Served } from './endpoints.ts';
import { withIdentity } from './identities.ts';
import { rewriteLink } from './links.ts';
import type { RemoteAnswer } from './remote.ts';
import { stamps } from './stamp.ts';
import type { KeptRequest, Reach } from './tracked.ts';

export interface CallsOptions {
  readonly world: () => World;
  /** Who serves a resource's type; throws when nobody does any more. */
  readonly servedBy: (id: ResourceId) => Served;
  readonly send: (
    endpoint: Endpoint,
    request: {
      readonly method: string;
      readonly target: string;
      readonly headers: { readonly [name: string]: string };
      readonly body?: unknown;
      readonly signal?: AbortSignal;
    },
  ) => Promise<RemoteAnswer>;
  readonly ensureTold: (endpoint: Endpoint, subscriptionId: string) => Promise<void>;
  readonly platform: () => CallerIdentity;
  readonly follow: (id: ResourceId) => void;
}

export interface ProviderCalls extends Reach {
  /** The resource as the provider shows it; undefined when it has none. */
  get(id: ResourceId, apiVersion?: string): Promise<ArmResource | undefined>;
}

const terminal: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Canceled']);
const defaultWaitMs = 1000;
const shortestWaitMs = 50;
const longestWaitMs = 15_000;

export function isTerminal(resource: unknown): boolean {
  const properties = isRecord(resource) && isRecord(resource.properties) ? resource.properties : {};
  const state = properties.provisioningState;
  return typeof state !== 'string' || terminal.has(state);
}

export function createCalls(options: CallsOptions): ProviderCalls {
  const { world, servedBy, send, platform } = options;

  const call = async (
    method: string,
    endpoint: Endpoint,
    path: string,
    caller: CallerIdentity,
    more: { readonly id?: ResourceId; readonly body?: unknown } = {},
  ): Promise<RemoteAnswer> => {
    const { id, body } = more;
    const record = id === undefined ? undefined : (await world().resources.read(id.key))?.body;
    return send(endpoint, {
      method,
      target: path,
      headers: stamps({
        world: world(),
        method,
        referer: `${world().cloud.origin}${path}`,
        caller,
        correlationId: randomUUID(),
        id,
        ...(record === undefined ? {} : { record }),
        ...(body === undefined ? {} : { body }),
      }),
      ...(body === undefined ? {} : { body }),
      signal: world().stopping,
    });
  };
  const pathOf = ({ text }: ResourceId, apiVersion: string, below = ''): string =>
    `${text.split('/').map(encodeURIComponent).join('/')}${below}?api-version=${apiVersion}`;

  const get = async (id: ResourceId, apiVersion?: string): Promise<ArmResource | undefined> => {
    const { endpoint, type } = servedBy(id);
    const answer = await call('GET', endpoint, pathOf(id, apiVersion ?? type.apiVersions[0] ?? ''), platform(), { id });
    if (answer.status === 404) return undefined;
    if (answer.status >= 400) throw errorOf(answer, endpoint);
    return (isRecord(answer.body) ? answer.body : {}) as ArmResource;
  };
  const wait = async (answer: RemoteAnswer): Promise<void> => {
    const asked = Number(answer.headers['retry-after'] ?? Number.NaN);
    const ms = Number.isFinite(asked) ? asked * 1000 : defaultWaitMs;
    await delay(Math.min(longestWaitMs, Math.max(shortestWaitMs, ms)), undefined, { signal: world().stopping });
  };
  /** Follows what an answer began; gives the result of a POST. Throws what it failed with. */
  const finish = async (begun: RemoteAnswer, endpoint: Endpoint, caller: CallerIdentity): Promise<unknown> => {
    const status = headerOf(begun, 'azure-asyncoperation');
    const location = headerOf(begun, 'location');
    const origin = world().cloud.origin;
    const follow = (link: string) =>
      call('GET', endpoint, rewriteLink(link, endpoint.url, origin).replace(origin, ''), caller);
    if (status !== undefined) {
      for (let answer = begun; ; ) {
        await wait(answer);
        answer = await follow(status);
        if (answer.status >= 400) throw errorOf(answer, endpoint);
        const state = isRecord(answer.body) ? answer.body.status : undefined;
        if (state === 'Succeeded') break;
        if (state === 'Failed' || state === 'Canceled') throw failureOf(answer, String(state));
      }
    }
    if (location === undefined) return begun.body;
    for (let answer = begun; ; ) {
      answer = await follow(location);
      if (answer.status >= 400) throw errorOf(answer, endpoint);
      if (answer.status !== 202) return answer.body;
      await wait(answer);
    }
  };
  /** Looks at the resource until its state stays or it is gone. */
  const settle = async (id: ResourceId): Promise<ArmResource | undefined> => {
    for (;;) {
      const resource = await get(id);
      if (resource === undefined || isTerminal(resource)) return resource;
      await delay(defaultWaitMs, undefined, { signal: world().stopping });
    }
  };

  return {
    get,
    follow: options.follow,
    async show(id, apiVersion) {
      const resource = await get(id, apiVersion);
      if (resource === undefined) throw notFound(id);
      return resource;
    },
    async put(id, { apiVersion, caller, body }: KeptRequest) {
      const { endpoint } = servedBy(id);
      if (id.subscriptionId !== undefined) await options.ensureTold(endpoint, id.subscriptionId);
      // After a restart the request may have been made before: it is not made twice at once.
      await settle(id);
      const record = (await world().resources.read(id.key))?.body;
      const filled = await withIdentity(world(), 'PUT', id, body, record);
      const answer = await call('PUT', endpoint, pathOf(id, apiVersion), caller, { id, body: filled });
      if (answer.status >= 400) throw errorOf(answer, endpoint);
      await finish(answer, endpoint, caller);
      const settled = await settle(id);
      const state = settled?.properties?.provisioningState;
      if (state === 'Failed' || state === 'Canceled')
        throw new ArmError(
          409,
          'ResourceDeploymentFailure',
          `The resource operation completed with terminal provisioning state '${state}'.`,
        );
    },
    async remove(id) {
      const { endpoint, type } = servedBy(id);
      const caller = platform();
      const answer = await call('DELETE', endpoint, pathOf(id, type.apiVersions[0] ?? ''), caller, { id });
      if (answer.status === 404 || answer.status === 204 || answer.status === 200) return;
      // It may be on its way already.
      if (answer.status >= 400 && (answer.status !== 409 || isTerminal(await get(id)))) throw errorOf(answer, endpoint);
      if (answer.status < 400) await finish(answer, endpoint, caller);
      if ((await settle(id)) !== undefined)
        throw new ArmError(409, 'ResourceDeletionFailed', `The resource '${id.text}' could not be deleted.`);
    },
    async act(id, action, apiVersion, body, caller) {
      const { endpoint } = servedBy(id);
      const answer = await call('POST', endpoint, pathOf(id, apiVersion, `/${action}`), caller, {
        id,
        body: body ?? {},
      });
      if (answer.status >= 400) throw errorOf(answer, endpoint);
      return (answer.status === 202 ? await finish(answer, endpoint, caller) : answer.body) as Json | undefined;
    },
  };
}

function headerOf({ headers }: RemoteAnswer, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function errorBodyOf(body: unknown): ErrorBody | undefined {
  const error = isRecord(body) ? body.error : undefined;
  if (!isRecord(error) || typeof error.code !== 'string') return undefined;
  return { ...error, code: error.code, message: typeof error.message === 'string' ? error.message : '' };
}

/** A provider's own error, with its status. */
export function errorOf(answer: RemoteAnswer, { namespace }: Endpoint): ArmError {
  const error = errorBodyOf(answer.body);
  if (error === undefined)
    return new ArmError(
      answer.status,
      'ResourceProviderError',
      `'${namespace}' answered with status ${answer.status}.`,
    );
  const { code, message, ...more } = error;
  return new ArmError(answer.status, code, message, more);
}

function failureOf(answer: RemoteAnswer, state: string): ArmError {
  const { code, message, ...more } = errorBodyOf(answer.body) ?? {
    code: 'OperationFailed',
    message: `The operation ended in the state '${state}'.`,
  };
  return new ArmError(409, code, message, more);
}

/** An id that was folded or came from a record. */
export function idOfKey(key: string): ResourceId | undefined {
  const parsed = parseResourceId(key);
  return parsed.ok ? parsed.id : undefined;
}
