// A deployment asked for by PUT: everything that can be wrong is told before it is accepted, and what is to be done is kept.
import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { CallerIdentity, Prepared, PrepareRequest } from '../kernel/provider.ts';
import type { World } from '../kernel/world.ts';
import { checkBefore, type Preflight } from './preflight.ts';
import { type DeploymentRequest, type Reach, readRequest } from './request.ts';
import { sealIntent } from './run/intent.ts';
import type { Nested, Nesting } from './run/nesting.ts';
import { type PreparedDeployment, prepareDeployment } from './run/prepared.ts';
import { acceptedProperties } from './show.ts';
import { isInner } from './template/dependencies.ts';

export interface DeploymentsOptions extends Reach {
  /** Asks resource providers about the resources of a deployment. */
  readonly preflight?: Preflight;
  /** Resources that a deployment has at most together with all that is nested in it. */
  readonly nestedResourcesMax?: number;
}

/** What the kernel keeps of the deployment. Throws ArmError. */
export async function acceptDeployment(
  { world, id, body, caller, current }: PrepareRequest,
  options: DeploymentsOptions,
  nested: Nested | undefined,
  nesting: Nesting,
): Promise<Prepared> {
  const request = await readRequest(world, id, body, caller, options);
  const prepared = await prepareRequest(world, id, request, caller);
  if (prepared.plan.resources.some((resource) => resource.id.key === id.key)) {
    throw new ArmError(
      400,
      'InvalidTemplate',
      `Deployment template validation failed: 'The deployment '${id.name}' cannot deploy itself.'.`,
    );
  }
  if (nested !== undefined) nesting.count(nested.root, prepared.plan.resources.length);
  const correlationId = randomUUID();
  await checkBefore(world, prepared, caller, options.preflight, correlationId);
  const { template, mode, location, templateLink } = request;
  const there = current?.resource.location;
  if (there !== undefined && there !== location) {
    throw new ArmError(
      409,
      'InvalidDeploymentLocation',
      `Invalid deployment location '${location ?? ''}'. The deployment '${id.name}' already exists in location '${there}'.`,
    );
  }
  const previous = current?.resource.properties?.correlationId;
  const intent = {
    template,
    parameters: prepared.parameters,
    mode,
    caller,
    ...(location === undefined ? {} : { location }),
    ...(templateLink === undefined ? {} : { templateLink }),
    ...(nested === undefined ? {} : { nested }),
    ...(nested === undefined || isInner(body.properties) ? {} : { closed: true as const }),
    ...(typeof previous === 'string' ? { previous } : {}),
  };
  const tags = body.tags as { readonly [name: string]: string } | undefined;
  return {
    resource: {
      ...(location === undefined ? {} : { location }),
      ...(tags === undefined ? {} : { tags }),
      properties: acceptedProperties(prepared, request, correlationId, world.clock.now()),
    },
    secrets: { intent: await sealIntent(intent) },
    references: {},
  };
}

/** The request's template, ready to be run. Throws ArmError. */
export function prepareRequest(
  world: World,
  id: ResourceId,
  request: DeploymentRequest,
  caller: CallerIdentity,
): Promise<PreparedDeployment> {
  return prepareDeployment(world, id, { ...request, caller, parameters: { given: request.given } });
}
