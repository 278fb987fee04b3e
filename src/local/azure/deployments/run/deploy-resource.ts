// One resource of a deployment: its body evaluated, written with the rights of the one who deploys, and waited for.
import { ArmError, type ErrorBody, errorBody } from '../../../../arm/errors.ts';
import { foldCase } from '../../../../arm/resource-id.ts';
import { clientName } from '../../authorization/client-name.ts';
import type { CallerIdentity } from '../../kernel/provider.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import type { Written } from '../../kernel/resources.ts';
import type { World } from '../../kernel/world.ts';
import { expressionFailed, TemplateError } from '../expressions/template-error.ts';
import { evaluateFetching, type Reader } from '../template/late.ts';
import type { PlannedResource } from '../template/plan.ts';
import { deploymentType, finishedBody, rawBody } from '../template/resource-body.ts';
import { runtimeFunctions } from '../template/runtime-functions.ts';
import type { Nested, Nesting } from './nesting.ts';
import type { PreparedDeployment } from './prepared.ts';

/** Times that a resource which is busy is tried again. */
const attempts = 20;

export interface Deploying {
  readonly world: World;
  readonly prepared: PreparedDeployment;
  readonly caller: CallerIdentity;
  /** What `reference` and `list…` gave in this run. */
  readonly fetched: Map<string, Json>;
  readonly read: Reader;
  readonly nesting: Nesting;
  /** What deployments that this one writes are nested in. */
  readonly within: Nested;
}

/** The body of a resource, with everything it refers to read. Throws ArmError. */
export async function bodyOf({ prepared, fetched, read }: Deploying, resource: PlannedResource): Promise<JsonObject> {
  const { context, plan, locate } = prepared;
  const environment = context.environment(resource.loops, runtimeFunctions(plan.resources, locate, fetched));
  try {
    const raw = rawBody(resource, context, environment, plan.resources, locate);
    return finishedBody(await evaluateFetching(raw.members, environment, fetched, read), raw);
  } catch (error) {
    if (error instanceof TemplateError) throw expressionFailed(`resource '${resource.id.text}'`, error.message);
    throw error;
  }
}

/**
 * Writes the resource and waits until it is done. `isResumed` says that it may have been begun before;
 * `began` is told the operation to wait for. Throws ArmError: what the write or the
 * operation failed with.
 */
export async function deployResource(
  deploying: Deploying,
  resource: PlannedResource,
  isResumed: boolean,
  began: (operation: string) => Promise<void>,
): Promise<void> {
  const { world, caller } = deploying;
  const body = await bodyOf(deploying, resource);
  await demandLinked(world, caller, resource, body);
  const written = await put(deploying, resource, body, isResumed);
  if (written.operation === undefined) return;
  await began(written.operation);
  await awaitOperation(world, resource, written.operation);
}

/** Throws what the operation failed with, in the words of a deployment. */
export async function awaitOperation(world: World, resource: PlannedResource, operation: string): Promise<void> {
  const { error } = await world.resources.finished(operation, world.stopping);
  if (error === undefined) return;
  if (foldCase(resource.type) === deploymentType) throw fromBody(error, resource);
  throw new ArmError(
    409,
    'ResourceDeploymentFailure',
    "The resource write operation failed to complete successfully, because it reached terminal provisioning state 'Failed'.",
    { target: resource.id.text, details: [error] },
  );
}

/**
 * A resource on which something else is under way is waited for. Of deployments only those are that this run may have begun itself before
 * the process ended: another may well be one that waits for this.
 */
async function put(
  { world, caller, nesting, within }: Deploying,
  resource: PlannedResource,
  body: JsonObject,
  isResumed: boolean,
): Promise<Written> {
  const { key } = resource.id;
  if (foldCase(resource.type) === deploymentType) {
    nesting.announce(key, within);
  }
  try {
    // An ancestor would wait for itself.
    return await putWaiting(world, caller, resource, body, isResumed && !within.ancestors.includes(key));
  } finally {
    nesting.forget(key);
  }
}

async function putWaiting(
  world: World,
  caller: CallerIdentity,
  resource: PlannedResource,
  body: JsonObject,
  isResumed: boolean,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await world.resources.put(resource.id, body, { apiVersion: resource.apiVersion, caller });
    } catch (error) {
      const code = error instanceof ArmError ? error.code : '';
      const waits = code === 'AnotherOperationInProgress' || (code === 'DeploymentActive' && isResumed);
      if (!waits || attempt === attempts) throw error;
      const operation = (await world.resources.read(resource.id.key))?.body.operation;
      if (operation !== undefined) await world.resources.finished(operation, world.stopping);
    }
  }
}

function fromBody(error: ErrorBody, resource: PlannedResource): ArmError {
  const { code, message, ...more } = error;
  return new ArmError(409, code, message, { target: resource.id.text, ...more });
}

/** Rights on what a body points at. */
async function demandLinked(
  world: World,
  caller: CallerIdentity,
  resource: PlannedResource,
  body: JsonObject,
): Promise<void> {
  const wanted = foldCase(resource.type);
  for (const { namespace, types } of world.providers) {
    for (const type of types) {
      if (foldCase(`${namespace}/${type.type}`) !== wanted) continue;
      for (const link of type.linkedAccess?.(body, resource.id) ?? []) {
        const { allowed } = await world.access.check(caller, link.action, link.id);
        if (allowed) continue;
        throw new ArmError(
          403,
          'LinkedAuthorizationFailed',
          `The client '${clientName(caller)}' with object id '${caller.objectId}' has permission to perform action '${resource.type}/write' on scope '${resource.id.text}'; however, it does not have permission to perform action '${link.action}' on the linked scope(s) '${link.id}' or the linked scope(s) are invalid.`,
        );
      }
    }
  }
}

/** Anything that ended a resource, as a detail of the deployment's error. */
export function detailOf(error: unknown, target: string): ErrorBody {
  if (error instanceof ArmError) return { target, ...errorBody(error) };
  return {
    code: 'InternalServerError',
    message: 'The resource could not be deployed because of an internal error. Try again.',
    target,
  };
}
