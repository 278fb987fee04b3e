// Microsoft Graph: the handlers in one table, the steps that every request goes through.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseJson } from '../../../arm/json-text.ts';
import { quotable } from '../../../arm/query.ts';
import { isGuid } from '../../../arm/resource-id.ts';
import { isStoreError } from '../../../store/errors.ts';
import { type Bearer, BearerError } from '../entra/bearer.ts';
import type { Entra } from '../entra/context.ts';
import { graphAppId } from '../entra/first-party.ts';
import { appRoleHandlers } from './app-roles.ts';
import { applicationHandlers } from './applications.ts';
import type { GraphAnswer, GraphCall, Handler, Handlers } from './call.ts';
import { federatedHandlers } from './federated-credentials.ts';
import { badQuery, badRequest, conflict, GraphError, notFound, unauthorized } from './graph-error.ts';
import { groupHandlers } from './groups.ts';
import { membershipHandlers } from './memberships.ts';
import { organizationHandlers } from './organization.ts';
import { servicePrincipalHandlers } from './service-principals.ts';
import { userHandlers } from './users.ts';

const handlers: Handlers = {
  ...userHandlers,
  ...groupHandlers,
  ...applicationHandlers,
  ...federatedHandlers,
  ...servicePrincipalHandlers,
  ...appRoleHandlers,
  ...membershipHandlers,
  ...organizationHandlers,
};

const bodyLimitBytes = 1024 * 1024;
const bodyMaxDepth = 32;
const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** Registers Graph in a scope of its own, on the cloud's origin and at Graph's own host name. */
export function graphRoutes(app: FastifyInstance, entra: Entra): void {
  const table = compile(handlers);
  app.register(async (scope) => {
    jsonBodies(scope);
    scope.setErrorHandler((error, request, reply) => sendGraphError(entra, error, request, reply));
    const bearers = new WeakMap<FastifyRequest, Bearer>();
    // Nothing of a body is read before it is known who sends it.
    scope.addHook('onRequest', async (request) => {
      bearers.set(request, await bearerOf(entra, request));
    });
    for (const version of ['v1.0', 'beta']) {
      scope.route({
        method: [...methods],
        url: `/${version}/*`,
        handler: async (request, reply) => {
          const bearer = bearers.get(request) ?? (await bearerOf(entra, request));
          const answer = await answerGraph(entra, table, version, request, bearer);
          reply.code(answer.status).header('request-id', request.id).header('odata-version', '4.0');
          if (answer.body === undefined) return reply.send();
          if (typeof answer.body === 'string') return reply.type('text/plain').send(answer.body);
          return reply
            .type('application/json;odata.metadata=minimal;odata.streaming=true;IEEE754Compatible=false;charset=utf-8')
            .send(JSON.stringify(answer.body));
        },
      });
    }
  });
}

async function bearerOf(entra: Entra, request: FastifyRequest): Promise<Bearer> {
  const { origin } = entra.cloud;
  const audiences = [origin, `https://${graphHost(entra)}`, 'https://graph.microsoft.com', graphAppId];
  try {
    return await entra.bearer.check(request.headers.authorization, audiences);
  } catch (error) {
    throw error instanceof BearerError ? unauthorized(error) : error;
  }
}

function graphHost(entra: Entra): string {
  return `graph.${entra.cloud.suffix}`;
}

async function answerGraph(
  entra: Entra,
  table: readonly Row[],
  version: string,
  request: FastifyRequest,
  bearer: Bearer,
): Promise<GraphAnswer> {
  const host = graphHost(entra);
  const atGraph = request.host.toLowerCase().replace(/:443$/, '') === host;
  const origin = atGraph ? `https://${host}` : entra.cloud.origin;
  const [target = '', search = ''] = request.url.split(/\?(.*)/s);
  const path = target.slice(target.toLowerCase().indexOf(`/${version}/`) + version.length + 2);
  const segments = segmentsOf(path);
  const { handler, parameters } = find(table, request.method, segments);
  const consistencyLevel = request.headers.consistencylevel;
  const call: GraphCall = {
    entra,
    bearer,
    base: `${origin}/${version}`,
    path,
    parameters,
    query: queryOf(search),
    consistencyLevel: typeof consistencyLevel === 'string' ? consistencyLevel : undefined,
    body: request.body,
  };
  return handler(call);
}

/** `applications(appId='x')` is the same as `applications/appId='x'`. */
function segmentsOf(path: string): readonly string[] {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    throw badQuery('The path is not encoded properly.');
  }
  return decoded
    .replaceAll(/\(([^()/]{0,256})\)(?=\/|$)/g, '/$1')
    .split('/')
    .filter((segment) => segment !== '');
}

function queryOf(search: string): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(search)) {
    const key = name.startsWith('$') ? name.toLowerCase() : name;
    if (query.has(key))
      throw badQuery(
        `Query option '${quotable(key)}' was specified more than once, but it must be specified at most once.`,
      );
    query.set(key, value);
  }
  return query;
}

interface Row {
  readonly method: string;
  readonly segments: readonly string[];
  readonly handler: Handler;
}

/** Literal segments come before parameters, so that `users/$count` is not the user named `$count`. */
function compile(all: Handlers): readonly Row[] {
  const weight = (row: Row): string => row.segments.map((segment) => (segment.startsWith('{') ? '1' : '0')).join('');
  return Object.entries(all)
    .map(([key, handler]) => {
      const [method = '', path = ''] = key.split(' ');
      return { method, segments: path.split('/'), handler };
    })
    .sort((a, b) => Number(weight(a) > weight(b)) - Number(weight(a) < weight(b)));
}

function find(
  table: readonly Row[],
  method: string,
  segments: readonly string[],
): { readonly handler: Handler; readonly parameters: Readonly<Record<string, string>> } {
  let otherMethod = false;
  for (const row of table) {
    const parameters = match(row.segments, segments);
    if (!parameters) continue;
    if (row.method === method) return { handler: row.handler, parameters };
    otherMethod = true;
  }
  if (otherMethod)
    throw new GraphError(405, 'Request_BadRequest', 'Specified HTTP method is not allowed for the request target.');
  throw badQuery(`Resource not found for the segment '${quotable(segments.at(-1) ?? '')}'.`);
}

function match(pattern: readonly string[], segments: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const given = segments[index] ?? '';
    if (expected.startsWith('{')) parameters[expected.slice(1, -1)] = given;
    else if (expected.toLowerCase() !== given.toLowerCase()) return undefined;
  }
  return parameters;
}

function jsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/json\b/i,
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    (_request, body, done) => {
      const bytes = body as Buffer;
      if (bytes.length === 0) {
        done(null, undefined);
        return;
      }
      const parsed = parseJson(bytes, bodyMaxDepth);
      if (parsed.ok) done(null, parsed.value);
      else done(badQuery(`Unable to read JSON request payload: ${parsed.message}.`));
    },
  );
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyLimitBytes }, (_request, body, done) => {
    if ((body as Buffer).length === 0) done(null, undefined);
    else
      done(
        badQuery(
          'A supported MIME type could not be found that matches the content type of the request. Send application/json.',
        ),
      );
  });
}

/** What the framework and the store refuse is the client's mistake or a race; anything else unknown is ours. */
function known(error: unknown): GraphError | undefined {
  if (error instanceof GraphError) return error;
  if (isStoreError(error, 'NotFound')) return notFound('');
  if (isStoreError(error, 'Changed', 'Exists', 'UniqueKey')) {
    return conflict('The object was changed by another request at the same time. Try again.');
  }
  if (isStoreError(error, 'TooLarge', 'Invalid'))
    return badRequest('The object is too large or holds a value that cannot be kept.');
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 500 ? badQuery('The request is not valid.') : undefined;
}

function sendGraphError(entra: Entra, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const requestId = randomUUID();
  const given = request.headers['client-request-id'];
  const shown = known(error);
  if (!shown) entra.logger.error({ err: error, requestId }, 'a request to Graph failed');
  const code = shown?.code ?? 'UnknownError';
  const message = shown?.message ?? 'An error occurred here. Try again.';
  if (shown?.status === 401) {
    reply.header(
      'www-authenticate',
      `Bearer realm="", authorization_uri="${entra.cloud.origin}/common/oauth2/authorize"`,
    );
  }
  return reply
    .code(shown?.status ?? 500)
    .header('request-id', requestId)
    .type('application/json')
    .send(
      JSON.stringify({
        error: {
          code,
          message,
          innerError: {
            date: new Date(entra.clock.now()).toISOString().slice(0, 19),
            'request-id': requestId,
            'client-request-id': typeof given === 'string' && isGuid(given) ? given : requestId,
          },
        },
      }),
    );
}
