// What is checked before anything of a deployment is written: the rights of the caller on every resource, and what resource providers
// have to say.
import { ArmError, type ErrorBody } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import { clientName } from '../authorization/client-name.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { expressionFailed, TemplateError } from './expressions/template-error.ts';
import { isObject } from './expressions/values.ts';
import type { PreparedDeployment } from './run/prepared.ts';
import { evaluateNow } from './template/late.ts';
import type { PlannedResource } from './template/plan.ts';
import { finishedBody, rawBody } from './template/resource-body.ts';
import { runtimeFunctions } from './template/runtime-functions.ts';

/** A resource as far as it is known before the deployment; texts that depend on other resources are still expressions. */
export interface PreflightResource {
  readonly id: ResourceId;
  readonly name: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly dependsOn: readonly string[];
  readonly body: JsonObject;
}

/** Asks the resource providers about a deployment's resources. Answers everything that is wrong; empty when all may be deployed. */
export type Preflight = (request: {
  readonly world: World;
  readonly deployment: ResourceId;
  readonly caller: CallerIdentity;
  readonly resources: readonly PreflightResource[];
}) => Promise<readonly ErrorBody[]>;

/** Throws ArmError: 403 for missing rights, 400 with everything the providers refuse. */
export async function checkBefore(
  world: World,
  prepared: PreparedDeployment,
  caller: CallerIdentity,
  preflight: Preflight | undefined,
  trackingId: string,
): Promise<readonly PreflightResource[]> {
  const wanted = prepared.plan.resources.filter((resource) => resource.wanted && !resource.existing);
  await demandRights(world, wanted, caller);
  const resources = wanted.map((resource) => knownResource(prepared, resource));
  const errors = (await preflight?.({ world, deployment: prepared.id, caller, resources })) ?? [];
  if (errors.length > 0) {
    throw new ArmError(
      400,
      'InvalidTemplateDeployment',
      `The template deployment '${prepared.id.name}' is not valid according to the validation procedure. The tracking id is '${trackingId}'. See inner errors for details.`,
      { details: errors },
    );
  }
  return resources;
}

/** Groups have their rights under the subscription's name. */
export function rightOn(type: string, verb: 'read' | 'write' | 'delete'): string {
  return foldCase(type) === 'microsoft.resources/resourcegroups'
    ? `Microsoft.Resources/subscriptions/resourceGroups/${verb}`
    : `${type}/${verb}`;
}

async function demandRights(world: World, wanted: readonly PlannedResource[], caller: CallerIdentity): Promise<void> {
  const details: ErrorBody[] = [];
  for (const { id, type, name } of wanted) {
    const action = rightOn(type, 'write');
    const { allowed } = await world.access.check(caller, action, id.text);
    if (allowed) continue;
    const message = `Authorization failed for template resource '${name}' of type '${type}'. The client '${clientName(caller)}' with object id '${caller.objectId}' does not have permission to perform action '${action}' at scope '${id.text}'.`;
    details.push({ code: 'AuthorizationFailed', message, target: id.text });
  }
  const [first] = details;
  if (first === undefined) return;
  throw new ArmError(
    403,
    'InvalidTemplateDeployment',
    `Deployment failed with multiple errors: '${details
      .slice(0, 10)
      .map((one) => one.message)
      .join(':')}'`,
    { details },
  );
}

function knownResource({ context, plan, locate }: PreparedDeployment, resource: PlannedResource): PreflightResource {
  const { id, name, type, apiVersion } = resource;
  const environment = context.environment(resource.loops, runtimeFunctions(plan.resources, locate, new Map()));
  try {
    const raw = rawBody(resource, context, environment, plan.resources, locate);
    const { made } = evaluateNow(raw.members, environment);
    const waits = plan.waits[plan.resources.indexOf(resource)] ?? new Set<number>();
    const dependsOn = [...waits].flatMap((at) => plan.resources[at]?.id.text ?? []);
    return { id, name, type, apiVersion, dependsOn, body: finishedBody(isObject(made) ? made : {}, raw) };
  } catch (error) {
    if (error instanceof TemplateError) throw expressionFailed(`resource '${id.text}'`, error.message);
    throw error;
  }
}
