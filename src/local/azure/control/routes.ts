// Control of the cloud itself, which Azure has none of: faults, time, speed, subscriptions. Callers show the token of the data directory.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkBody } from '../../../arm/check-body.ts';
import { ArmError, errorBody } from '../../../arm/errors.ts';
import { isGuid } from '../../../arm/resource-id.ts';
import { Enum } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import type { Secret } from '../../../kit/secret.ts';
import { faultSchema } from '../kernel/faults.ts';
import type { ProfileName } from '../kernel/profiles.ts';
import type { World } from '../kernel/world.ts';

export interface ControlOptions {
  readonly world: World;
  readonly token: Secret<string>;
  readonly profile: { get(): ProfileName; set(name: ProfileName): void };
  /** Further routes behind the token. */
  readonly more?: (scope: FastifyInstance) => void;
}

const states = ['Enabled', 'Warned', 'PastDue', 'Disabled', 'Deleted'] as const;
const subscriptionSchema = Type.Object(
  {
    displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    state: Type.Optional(Enum(states)),
  },
  { additionalProperties: false },
);
const profileNames = ['instant', 'demo', 'azure'] as const satisfies readonly ProfileName[];
const maxAdvanceMs = 10 * 365 * 86_400_000;
const timeSchema = Type.Object(
  { advanceMs: Type.Integer({ minimum: 0, maximum: maxAdvanceMs }) },
  { additionalProperties: false },
);
const profileSchema = Type.Object({ name: Enum(profileNames) }, { additionalProperties: false });

/** Faults beyond this many are refused: every call is held against all of them. */
const maxFaults = 1000;

export async function controlRoutes(app: FastifyInstance, options: ControlOptions): Promise<void> {
  const { world, profile } = options;
  const { faults, clock, subscriptions } = world;
  await app.register(
    async (scope) => {
      scope.setErrorHandler((error, _request, reply) => sendError(error, reply));
      acceptEmptyJson(scope);
      scope.addHook('onRequest', async (request) => demandToken(request, options.token));

      scope.get('/faults', async () => ({ value: faults.list() }));
      scope.post('/faults', async (request, reply) => {
        if (faults.list().length >= maxFaults)
          throw new ArmError(409, 'TooManyFaults', `There are ${maxFaults} faults already: remove some.`);
        const id = faults.add(checkBody(faultSchema, request.body));
        return reply.code(201).send({ id });
      });
      scope.delete('/faults', async (_request, reply) => {
        faults.clear();
        return reply.code(204).send();
      });
      scope.delete('/faults/:id', async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        if (!faults.remove(id)) throw new ArmError(404, 'NotFound', 'There is no fault of this id.');
        return reply.code(204).send();
      });

      const time = () => ({ now: new Date(clock.now()).toISOString() });
      scope.get('/time', async () => time());
      scope.post('/time', async (request) => {
        await clock.advance(checkBody(timeSchema, request.body).advanceMs);
        return time();
      });

      scope.get('/profile', async () => ({ name: profile.get() }));
      scope.put('/profile', async (request) => {
        profile.set(checkBody(profileSchema, request.body).name);
        return { name: profile.get() };
      });

      scope.get('/subscriptions', async () => ({ value: subscriptions.list() }));
      scope.put('/subscriptions/:subscriptionId', async (request) => {
        const { subscriptionId } = request.params as { readonly subscriptionId: string };
        if (!isGuid(subscriptionId))
          throw new ArmError(400, 'InvalidSubscriptionId', 'The subscription id is not a GUID.');
        const given = checkBody(subscriptionSchema, request.body ?? {});
        await subscriptions.ensure({ subscriptionId, displayName: given.displayName ?? subscriptionId });
        return subscriptions.change(subscriptionId, (subscription) => ({ ...subscription, ...given }));
      });
      options.more?.(scope);
    },
    { prefix: '/_control' },
  );
}

/** Clients name a content type also where they send nothing. */
function acceptEmptyJson(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser('error', 'error');
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') done(null, undefined);
    else parse(request, text, done);
  });
}

/** Compared without telling by the time how much of it was right. */
function demandToken(request: FastifyRequest, token: Secret<string>): void {
  const [, shown = ''] = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(request.headers.authorization ?? '') ?? [];
  const [given, wanted] = [Buffer.from(shown), Buffer.from(token.reveal())];
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new ArmError(401, 'Unauthorized', 'Control needs the token that is kept in the data directory.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

function sendError(error: unknown, reply: FastifyReply): FastifyReply {
  if (error instanceof ArmError)
    return reply
      .code(error.status)
      .headers(error.headers)
      .send({ error: errorBody(error) });
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  const message = status < 500 ? 'The request is not valid.' : 'An internal error occurred.';
  if (status >= 500) reply.log.error({ err: error }, 'a control request failed');
  return reply.code(status).send({ error: { code: status < 500 ? 'BadRequest' : 'InternalServerError', message } });
}
