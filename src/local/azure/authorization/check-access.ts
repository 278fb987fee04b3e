// Access checks for others: the decision point that services ask whether a principal may do something
// (`https://<location>.authorization.<suffix>/providers/Microsoft.Authorization/checkAccess`).
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { body as bodyParser } from '../../../arm/body.ts';
import { checkBody } from '../../../arm/check-body.ts';
import { toWire } from '../../../arm/error-wire.ts';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, isGuid, parseResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { DataPlaneService } from '../kernel/data-plane.ts';
import type { CallerIdentity, ProviderRoute } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { roleAccessOf } from './access.ts';

const pointVersion = '2021-06-01-preview';
const path = '/providers/Microsoft.Authorization/checkAccess';
const actionsMax = 200;
const keptMs = 300_000;

const attributes = Type.Optional(Type.Unknown());
const schema = Type.Object({
  Subject: Type.Object({
    Attributes: Type.Object({
      ObjectId: Type.String({ maxLength: 64 }),
      Groups: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 2000 })),
    }),
  }),
  Actions: Type.Array(
    Type.Object({
      Id: Type.String({ minLength: 1, maxLength: 400 }),
      IsDataAction: Type.Optional(Type.Boolean()),
      Attributes: attributes,
    }),
    { minItems: 1, maxItems: actionsMax },
  ),
  Resource: Type.Object({ Id: Type.String({ minLength: 1, maxLength: 2048 }), Attributes: attributes }),
});

/** The decision point by its own host name. Its errors have a form of their own. */
export const decisionPoint: DataPlaneService = {
  plane: 'authorization',
  routes(app, world) {
    bodyParser(app, { limitBytes: 1024 * 1024, maxDepth: 20, bodyTooLargeStatus: 413 });
    app.setErrorHandler(sendError);
    app.setNotFoundHandler((request, reply) =>
      sendError(new ArmError(404, 'NotFound', 'No such path.'), request, reply),
    );
    app.post(path, async (request) => {
      const version = (request.query as { readonly 'api-version'?: string })['api-version'];
      if (version !== pointVersion)
        throw new ArmError(400, 'InvalidApiVersionParameter', `The api-version must be '${pointVersion}'.`);
      const caller = await world.directory.authenticate(request.headers.authorization, audiencesOf(world));
      const value = await decisions(world, caller, checkBody(schema, request.body));
      return { value, nextLink: '' };
    });
  },
};

/** The same on any scope of Resource Manager, in its earlier form: a list without an envelope. */
export const checkAccessRoute: ProviderRoute = {
  method: 'POST',
  scope: 'extension',
  path: 'checkAccess',
  apiVersions: ['2018-09-01-preview', pointVersion],
  action: 'Microsoft.Authorization/roleAssignments/read',
  async run({ world, on, body, caller, apiVersion }) {
    const given = checkBody(schema, { ...body, Resource: body?.Resource ?? { Id: on?.text ?? '/' } });
    const value = await decisions(world, caller, given);
    return apiVersion === pointVersion ? { value, nextLink: '' } : value;
  },
};

function audiencesOf({ cloud }: World): readonly string[] {
  return [`https://authorization.${cloud.suffix}`, 'https://authorization.azure.net'].flatMap((name) => [
    name,
    `${name}/`,
  ]);
}

async function decisions(world: World, caller: CallerIdentity, given: Static<typeof schema>): Promise<readonly Json[]> {
  const { ObjectId: objectId, Groups: groups = [] } = given.Subject.Attributes;
  const scope = given.Resource.Id;
  if (!isGuid(objectId)) throw new ArmError(400, 'BadRequest', 'Subject.Attributes.ObjectId must be a GUID.');
  if (scope !== '/' && !parseResourceId(scope).ok)
    throw new ArmError(400, 'BadRequest', 'Resource.Id must be the id of a resource or scope.');
  const access = roleAccessOf(world);
  await demandMayAsk(world, caller, objectId, scope);
  const subject = {
    objectId: foldCase(objectId),
    groups: [...new Set([...groups, ...access.groupsOf(objectId)].map(foldCase))],
  };
  const answers: Json[] = [];
  for (const { Id: actionId, IsDataAction: isDataAction = false } of given.Actions) {
    const decision = await access.check(subject, actionId, scope, isDataAction);
    answers.push({
      actionId,
      accessDecision: decision.allowed ? 'Allowed' : decision.denied ? 'Denied' : 'NotAllowed',
      isDataAction,
      roleAssignment: decision.allowed ? await assignmentOf(world, decision.assignment) : null,
      denyAssignment: decision.denied ? { id: decision.assignment ?? '' } : null,
      timeToLiveInMs: keptMs,
    });
  }
  return answers;
}

/** Services of the platform ask about anybody, others about themselves or where they may read assignments. */
async function demandMayAsk(world: World, caller: CallerIdentity, objectId: string, scope: string): Promise<void> {
  const access = roleAccessOf(world);
  if (access.isPlatform(caller) || foldCase(caller.objectId) === foldCase(objectId)) return;
  await access.demand(caller, 'Microsoft.Authorization/roleAssignments/read', scope);
}

async function assignmentOf(world: World, id: string | undefined): Promise<JsonObject | null> {
  if (id === undefined) return null;
  const assignments = await roleAccessOf(world).assignments();
  const { roleDefinitionId, principalId, principalType, scope } =
    assignments.grant(foldCase(id))?.resource.properties ?? {};
  return { id, roleDefinitionId, principalId, principalType, scope };
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const wire = toWire(error, { requestId: request.id, conditional: false }, { bodyTooLargeStatus: 413 });
  if (wire.hidden) request.log.error({ err: error }, 'an access check failed');
  const { message } = wire.body.error;
  return reply
    .code(wire.status)
    .headers(wire.headers)
    .send({ statusCode: String(wire.status), message });
}
