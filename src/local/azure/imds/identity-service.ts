// Tokens for managed identities, as a machine's metadata service and App Service give them. On this machine all programs share one
// loopback, so an identity cannot be told by who asks from where: each set of identities has an endpoint with an unguessable path,
// and a secret header where the protocol has one. A program is given its own endpoint and so has its own identities only.
import { randomBytes } from 'node:crypto';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { foldCase } from '../../../arm/resource-id.ts';
import type { Logger } from '../../../kit/log.ts';
import { listenPlain } from '../../../kit/plain-listener.ts';
import { Secret } from '../../../kit/secret.ts';
import { EntraError } from '../entra/aadsts.ts';
import type { EntraDirectory } from '../entra/directory.ts';
import type { ServicePrincipal } from '../entra/directory-objects.ts';
import { sameText } from '../entra/passwords.ts';

/** The identities that a program runs with: what is assigned to the machine or site it is on. */
export interface AssignedIdentities {
  /** Id of the resource whose own identity it is; used when a request names none. */
  readonly system?: string;
  /** Ids of user-assigned identities. */
  readonly user: readonly string[];
}

export interface IdentityEndpoint {
  /** For programs that ask by themselves: GET with `X-IDENTITY-HEADER`, `resource` and `api-version`. */
  readonly url: string;
  readonly header: Secret<string>;
  /** By which Azure's SDKs find the endpoint as App Service's. */
  readonly appService: { readonly IDENTITY_ENDPOINT: string; readonly IDENTITY_HEADER: string };
  /** By which they find it as a machine's metadata service. The address is the secret. */
  readonly imds: { readonly AZURE_POD_IDENTITY_AUTHORITY_HOST: string };
  /** From then on it is not found. */
  remove(): void;
}

export interface IdentityService {
  /** Identities are looked up when a token is asked for: they may come, change and go. */
  createIdentityEndpoint(identities: AssignedIdentities): IdentityEndpoint;
  stop(graceOver?: AbortSignal): Promise<void>;
}

interface Place {
  readonly identities: AssignedIdentities;
  readonly header: Secret<string>;
}

class IdentityError extends Error {
  readonly status: number;
  readonly error: string;

  constructor(status: number, error: string, message: string) {
    super(message);
    this.name = 'IdentityError';
    this.status = status;
    this.error = error;
  }
}

const apiVersions = {
  imds: /^\d{4}-\d{2}-\d{2}$/,
  appService: /^2019-08-01$|^2025-03-30$/,
} as const;
const oldestImds = '2018-02-01';

/** Serves every endpoint on one plain listener of this machine. */
export async function createIdentityService(options: {
  readonly directory: Pick<EntraDirectory, 'entra' | 'issueForIdentity' | 'tenantId'>;
  readonly logger: Logger;
  readonly port?: number;
}): Promise<IdentityService> {
  const { directory, logger } = options;
  const places = new Map<string, Place>();
  // Client libraries put a slash behind the address that they are given.
  const app = Fastify({ logger: false, routerOptions: { ignoreTrailingSlash: true, maxParamLength: 128 } });
  app.setErrorHandler((error, _request, reply) => sendError(logger, error, reply));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(notFoundBody));
  routes(app, directory, places);
  const listener = await listenPlain(app, { host: '127.0.0.1', port: options.port ?? 0, logger });

  return {
    createIdentityEndpoint(identities) {
      // Lower case: client libraries fold the address that they are given.
      const name = randomBytes(32).toString('hex');
      const header = new Secret(randomBytes(32).toString('base64url'));
      places.set(name, { identities, header });
      const root = `${listener.url}/${name}`;
      const url = `${root}/msi/token`;
      return {
        url,
        header,
        appService: { IDENTITY_ENDPOINT: url, IDENTITY_HEADER: header.reveal() },
        imds: { AZURE_POD_IDENTITY_AUTHORITY_HOST: root },
        remove: () => void places.delete(name),
      };
    },
    async stop(graceOver) {
      await listener.stop(graceOver);
      await app.close();
    },
  };
}

type Query = Readonly<Record<string, unknown>>;
interface PlacePath {
  readonly Params: { readonly place: string };
  readonly Querystring: Query;
}

function routes(
  app: FastifyInstance,
  directory: Pick<EntraDirectory, 'entra' | 'issueForIdentity' | 'tenantId'>,
  places: ReadonlyMap<string, Place>,
): void {
  const placeOf = (request: FastifyRequest<PlacePath>): Place => {
    const place = places.get(request.params.place);
    if (!place) throw new IdentityError(404, 'not_found', 'There is no identity endpoint at this address.');
    return place;
  };
  app.get<PlacePath>('/:place/metadata/identity/oauth2/token', async (request, reply) => {
    const place = placeOf(request);
    if (String(request.headers.metadata).toLowerCase() !== 'true') {
      throw new IdentityError(400, 'invalid_request', 'Required metadata header not specified');
    }
    checkVersion(request.query, 'imds');
    return answer(directory, place, request.query, reply);
  });
  app.get<PlacePath>('/:place/msi/token', async (request, reply) => {
    const place = placeOf(request);
    const given = request.headers['x-identity-header'];
    if (typeof given !== 'string' || !sameText(given, place.header.reveal())) {
      throw new IdentityError(401, 'unauthorized', 'The X-IDENTITY-HEADER is missing or not the one of this endpoint.');
    }
    checkVersion(request.query, 'appService');
    return answer(directory, place, request.query, reply);
  });
}

function checkVersion(query: Query, kind: keyof typeof apiVersions): void {
  const version = one(query, 'api-version') ?? '';
  if (!apiVersions[kind].test(version) || (kind === 'imds' && version < oldestImds)) {
    throw new IdentityError(
      400,
      'Bad request. api-version is invalid or was not specified in the request.',
      kind === 'imds' ? `Ask with api-version ${oldestImds}.` : 'Ask with api-version 2019-08-01.',
    );
  }
}

async function answer(
  directory: Pick<EntraDirectory, 'entra' | 'issueForIdentity' | 'tenantId'>,
  place: Place,
  query: Query,
  reply: FastifyReply,
) {
  const resource = one(query, 'resource');
  if (resource === undefined)
    throw new IdentityError(400, 'invalid_request', "Required query variable 'resource' is missing");
  const identity = chosen(directory, place.identities, query);
  const issued = await directory.issueForIdentity(identity, resource);
  const seconds = String(issued.expiresIn - 1);
  reply.header('cache-control', 'no-store');
  return {
    access_token: issued.token.reveal(),
    client_id: identity.appId,
    expires_in: seconds,
    expires_on: String(issued.expiresOn),
    ext_expires_in: seconds,
    not_before: String(issued.notBefore),
    resource: issued.resource,
    token_type: 'Bearer',
  };
}

/** By which parameters a request names one of several identities; SDKs spell the resource id's in two ways. */
const selectors: Readonly<Record<string, (identity: ServicePrincipal) => string | undefined>> = {
  client_id: (identity) => identity.appId,
  object_id: (identity) => identity.id,
  principal_id: (identity) => identity.id,
  mi_res_id: (identity) => identity.resourceKey,
  msi_res_id: (identity) => identity.resourceKey,
};

function chosen(
  directory: Pick<EntraDirectory, 'entra' | 'tenantId'>,
  assigned: AssignedIdentities,
  query: Query,
): ServicePrincipal {
  const find = (resourceId: string) => directory.entra.objects.managedIdentity(directory.tenantId, resourceId);
  const system = assigned.system === undefined ? undefined : find(assigned.system);
  const user = assigned.user.map(find).filter((identity) => identity !== undefined);
  const asked = Object.keys(selectors).flatMap((name) => {
    const value = one(query, name);
    return value === undefined ? [] : [{ name, value: foldCase(value) }];
  });
  if (asked.length > 1) {
    throw new IdentityError(400, 'invalid_request', 'Only one of client_id, object_id and mi_res_id may be given.');
  }
  const [by] = asked;
  const all = system ? [system, ...user] : user;
  if (by) {
    const identity = all.find((candidate) => selectors[by.name]?.(candidate) === by.value);
    if (!identity) throw new IdentityError(400, 'invalid_request', 'Identity not found');
    return identity;
  }
  const only = system ?? (user.length === 1 ? user[0] : undefined);
  if (only) return only;
  throw new IdentityError(
    400,
    'invalid_request',
    user.length === 0
      ? 'Identity not found'
      : 'Multiple user assigned identities exist, please specify the clientId / resourceId of the identity in the token request',
  );
}

function one(query: Query, name: string): string | undefined {
  const value = query[name];
  if (Array.isArray(value))
    throw new IdentityError(400, 'invalid_request', `The query variable '${name}' is given twice.`);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const notFoundBody = { error: 'not_found', error_description: 'There is nothing at this address.' };

function sendError(logger: Logger, error: unknown, reply: FastifyReply): FastifyReply {
  if (error instanceof IdentityError) {
    return reply.code(error.status).send({ error: error.error, error_description: error.message });
  }
  if (error instanceof EntraError) {
    const error_description = `AADSTS${error.number}: ${error.message}`;
    return reply.code(400).send({ error: error.error, error_description });
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status < 500) return reply.code(400).send({ error: 'invalid_request', error_description: 'Bad request.' });
  logger.error({ err: error }, 'a managed identity token could not be given');
  return reply.code(500).send({ error: 'unknown', error_description: 'Failed to retrieve token from the directory.' });
}
