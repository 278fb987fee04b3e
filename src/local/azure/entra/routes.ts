// The endpoints of Entra ID by path. They answer on the cloud's origin and at the sign-in service's own host name.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isGuid } from '../../../arm/resource-id.ts';
import { aadsts, EntraError, entraErrorBody } from './aadsts.ts';
import { authorize, finishSignIn } from './authorize.ts';
import { baseOf, type Entra, tenantOf } from './context.ts';
import { devicePage, showCodePage, startDeviceCode, submitDevicePage } from './device-code.ts';
import { adfsConfiguration, instanceDiscovery, openIdConfiguration, userRealm } from './discovery.ts';
import { type Form, formBodies, formOf, readForm } from './form.ts';
import { message, sendPage } from './pages.ts';
import { answerToken } from './token-endpoint.ts';

interface TenantPath {
  readonly Params: { readonly tenant: string };
}

/** Registers the routes in a scope of their own: its errors and bodies are not those of its neighbours. */
export function entraRoutes(app: FastifyInstance, entra: Entra): void {
  app.register(async (scope) => {
    formBodies(scope);
    scope.setErrorHandler((error, request, reply) => sendEntraError(entra, error, request, reply));
    documents(scope, entra);
    tokens(scope, entra);
    await pages(scope, entra);
  });
}

function documents(app: FastifyInstance, entra: Entra): void {
  const base = (request: FastifyRequest): string => baseOf(entra, request.host);
  app.get('/adfs/.well-known/openid-configuration', async (request) => adfsConfiguration(base(request)));
  for (const version of [1, 2] as const) {
    const prefix = version === 2 ? '/v2.0' : '';
    app.get<TenantPath>(`/:tenant${prefix}/.well-known/openid-configuration`, async (request) => {
      const { tenant } = request.params;
      return openIdConfiguration(entra, base(request), tenant, tenantOf(entra, tenant), version);
    });
    app.get<TenantPath>(`/:tenant/discovery${prefix}/keys`, async (request) => {
      tenantOf(entra, request.params.tenant);
      return { keys: await entra.keys.published() };
    });
  }
  app.get<TenantPath>('/:tenant/discovery/instance', async (request) =>
    instanceDiscovery(entra, base(request), queryOf(request).get('authorization_endpoint') ?? ''),
  );
  app.get<TenantPath & { readonly Params: { readonly name: string } }>('/:tenant/userrealm/:name', async (request) =>
    userRealm(entra, base(request), request.params.name),
  );
}

function tokens(app: FastifyInstance, entra: Entra): void {
  for (const version of [1, 2] as const) {
    const oauth = `/:tenant/oauth2${version === 2 ? '/v2.0' : ''}`;
    app.post<TenantPath>(`${oauth}/token`, async (request, reply) => {
      const segment = request.params.tenant;
      const tenant = tenantOf(entra, segment);
      const form = withBasic(formOf(request.body), request.headers.authorization);
      notForCaches(reply);
      return answerToken(entra, { tenant, segment, version, base: baseOf(entra, request.host), form });
    });
    app.post<TenantPath>(`${oauth}/devicecode`, async (request, reply) => {
      const base = baseOf(entra, request.host);
      notForCaches(reply);
      return startDeviceCode(entra, base, request.params.tenant, version, formOf(request.body));
    });
  }
}

async function pages(app: FastifyInstance, entra: Entra): Promise<void> {
  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => sendErrorPage(entra, error, request, reply));
    for (const version of [1, 2] as const) {
      const oauth = `/:tenant/oauth2${version === 2 ? '/v2.0' : ''}`;
      scope.get<TenantPath>(`${oauth}/authorize`, async (request, reply) =>
        authorize(entra, request, reply, request.params.tenant, version, queryOf(request)),
      );
      scope.get<TenantPath>(`${oauth}/logout`, async (_request, reply) =>
        sendPage(reply, { title: 'Signed out', main: message('You have signed out. You can close this page.') }),
      );
    }
    scope.post<TenantPath>('/:tenant/login', async (request, reply) =>
      finishSignIn(entra, request, reply, formOf(request.body)),
    );
    for (const path of [devicePage, '/devicelogin']) {
      scope.get(path, async (request, reply) => showCodePage(reply, (queryOf(request).get('otc') ?? '').slice(0, 32)));
      scope.post(path, async (request, reply) => submitDevicePage(entra, request, reply, formOf(request.body)));
    }
  });
}

function queryOf(request: FastifyRequest): Form {
  const at = request.url.indexOf('?');
  return readForm(at === -1 ? '' : request.url.slice(at + 1));
}

/** A client may send its id and secret in the header instead. */
function withBasic(form: Form, authorization: string | undefined): Form {
  const match = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '');
  if (!match?.[1]) return form;
  const [id = '', secret] = Buffer.from(match[1], 'base64').toString('utf8').split(/:(.*)/s);
  const values = new Map([
    ['client_id', decoded(id)],
    ['client_secret', decoded(secret ?? '')],
  ]);
  return { get: (name) => form.get(name) ?? (values.get(name) || undefined) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw aadsts.malformed();
  }
}

function notForCaches(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
}

/** The client's correlation id is returned when it is one. */
function placeOf(entra: Entra, request: FastifyRequest) {
  const given = request.headers['client-request-id'];
  return {
    base: baseOf(entra, request.host),
    traceId: randomUUID(),
    correlationId: typeof given === 'string' && isGuid(given) ? given.toLowerCase() : randomUUID(),
    now: entra.clock.now(),
  };
}

/** What the framework refuses (size, encoding) is the client's mistake; anything else unknown is ours. */
function known(error: unknown): EntraError | undefined {
  if (error instanceof EntraError) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 500 ? aadsts.malformed() : undefined;
}

function sendEntraError(entra: Entra, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const place = placeOf(entra, request);
  const answer = known(error);
  if (!answer) entra.logger.error({ err: error, traceId: place.traceId }, 'a request to the sign-in service failed');
  notForCaches(reply);
  reply.header('x-ms-request-id', place.traceId);
  if (answer?.status === 429) reply.header('retry-after', '1');
  const shown =
    answer ?? new EntraError(90033, 'server_error', 500, 'A transient error has occurred. Please try again.');
  return reply.code(shown.status).send(entraErrorBody(shown, place));
}

function sendErrorPage(entra: Entra, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const place = placeOf(entra, request);
  const answer = known(error);
  if (!answer) entra.logger.error({ err: error, traceId: place.traceId }, 'a page of the sign-in service failed');
  const text = answer ? `AADSTS${answer.number}: ${answer.message}` : 'Something went wrong here. Try again.';
  return sendPage(reply, {
    title: 'Sorry, but this does not work',
    status: answer?.status ?? 500,
    main: `${message(text)}${message(`Trace ID: ${place.traceId}`)}`,
  });
}
