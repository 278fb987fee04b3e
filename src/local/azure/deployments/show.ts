// Deployments and their operations as ARM shows them.
import { createHash } from 'node:crypto';
import type { ResourceId } from '../../../arm/resource-id.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { DeploymentRequest } from './request.ts';
import type { PreparedDeployment } from './run/prepared.ts';
import type { RunDocument, StepDocument } from './run/progress.ts';
import { isSecure, type ParameterValue } from './template/parameters.ts';
import type { PlannedResource } from './template/plan.ts';

/** Edges that are listed; a record has room for so many. */
const dependenciesMax = 2000;

/** The properties of a deployment that are known when it is accepted. */
export function acceptedProperties(
  prepared: PreparedDeployment,
  request: DeploymentRequest,
  correlationId: string,
  now: number,
): JsonObject {
  const deployed = prepared.plan.resources.filter(({ wanted, existing }) => wanted && !existing);
  return {
    templateHash: templateHash(request.template),
    ...(request.templateLink === undefined ? {} : { templateLink: request.templateLink }),
    parameters: shownParameters(prepared.parameters),
    mode: request.mode,
    ...(request.debugSetting === undefined ? {} : { debugSetting: request.debugSetting }),
    timestamp: new Date(now).toISOString(),
    duration: 'PT0S',
    correlationId,
    providers: shownProviders(deployed),
    dependencies: shownDependencies(prepared),
  };
}

/** Secure ones have a type and no value. */
function shownParameters(parameters: readonly ParameterValue[]): JsonObject {
  return Object.fromEntries(
    parameters.map(({ name, type, value }): [string, Json] => [name, isSecure(type) ? { type } : { type, value }]),
  );
}

function shownProviders(resources: readonly PlannedResource[]): Json {
  const namespaces = new Map<string, Map<string, Json>>();
  for (const { type, body } of resources) {
    const [namespace = '', ...rest] = type.split('/');
    const types = namespaces.get(namespace) ?? new Map<string, Json>();
    const location = typeof body.location === 'string' && !body.location.startsWith('[') ? body.location : null;
    types.set(rest.join('/'), { resourceType: rest.join('/'), locations: [location] });
    namespaces.set(namespace, types);
  }
  return [...namespaces].map(([namespace, types]) => ({ namespace, resourceTypes: [...types.values()] }));
}

function shownDependencies({ plan }: PreparedDeployment): Json {
  const made: Json[] = [];
  let edges = 0;
  const named = ({ id, type, name }: PlannedResource): JsonObject => ({
    id: id.text,
    resourceType: type,
    resourceName: name,
  });
  for (const [at, resource] of plan.resources.entries()) {
    const targets = [...(plan.waits[at] ?? [])].flatMap((target) => plan.resources[target] ?? []);
    const listed = targets.filter((target) => target.wanted && !target.existing);
    if (!resource.wanted || resource.existing || listed.length === 0) continue;
    edges += listed.length;
    if (edges > dependenciesMax) break;
    made.push({ dependsOn: listed.map(named), ...named(resource) });
  }
  return made;
}

/** A decimal number of 64 bits, the same for the same template. */
export function templateHash(template: Json): string {
  const digest = createHash('sha256').update(JSON.stringify(template)).digest();
  return digest.readBigUInt64BE(0).toString();
}

/** Kernel's words for work under way, in those of deployments. */
const states: { readonly [state: string]: string } = { Creating: 'Accepted', Updating: 'Accepted' };

export function shownDeployment(record: ResourceRecord, run: RunDocument | undefined): ArmResource {
  const { resource } = record;
  const properties = resource.properties ?? {};
  const kept = typeof properties.provisioningState === 'string' ? properties.provisioningState : 'Accepted';
  // The kernel has the last word on deletes and on operations that never ran.
  const state =
    kept === 'Deleting'
      ? kept
      : kept === 'Failed' && run?.state === 'Canceled'
        ? 'Canceled'
        : record.operation !== undefined && run !== undefined
          ? run.state
          : (states[kept] ?? kept);
  const ended = run?.endedAt;
  return {
    ...resource,
    properties: {
      ...properties,
      provisioningState: state,
      ...(ended === undefined || run === undefined
        ? {}
        : { timestamp: new Date(ended).toISOString(), duration: durationText(ended - run.startedAt) }),
      ...(run?.outputs === undefined ? {} : { outputs: run.outputs }),
      ...(run?.outputResources === undefined ? {} : { outputResources: run.outputResources.map((id) => ({ id })) }),
      ...(run?.error === undefined || state === 'Succeeded' ? {} : { error: asJson(run.error) }),
    },
  };
}

/** ISO 8601. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = Number((seconds % 60).toFixed(3));
  return `PT${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}${rest}S`;
}

export function shownOperation(deployment: ResourceId, step: StepDocument): JsonObject {
  const ended = step.endedAt ?? step.startedAt;
  return {
    id: `${deployment.text}/operations/${step.operationId}`,
    operationId: step.operationId,
    properties: {
      provisioningOperation: step.provisioningOperation,
      provisioningState: step.state,
      timestamp: new Date(ended).toISOString(),
      duration: durationText(ended - step.startedAt),
      trackingId: trackingId(step.operationId),
      ...(step.statusCode === undefined ? {} : { statusCode: step.statusCode }),
      ...(step.error === undefined ? {} : { statusMessage: { status: 'Failed', error: asJson(step.error) } }),
      ...(step.target === undefined
        ? {}
        : {
            targetResource: {
              id: step.target.id,
              resourceType: step.target.type,
              resourceName: step.target.name,
              ...(step.target.apiVersion === undefined ? {} : { apiVersion: step.target.apiVersion }),
              ...(step.target.symbol === undefined ? {} : { symbolicName: step.target.symbol }),
            },
          }),
    },
  };
}

function trackingId(operationId: string): string {
  const hex = createHash('sha256').update(foldCase(operationId)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** An error is plain data. */
function asJson(error: object): JsonObject {
  return error as JsonObject;
}
