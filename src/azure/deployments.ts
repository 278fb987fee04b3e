// Template deployments: applied, validated, forecast, and followed resource by resource.
import type { ArmClient, CallOptions } from './arm-client.ts';
import { AzureError, type ErrorDetail, errorIn, isAzureError, isNotFound } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

export const deploymentsVersion = '2024-03-01';

/** Where a template is applied. Those of subscriptions and tenants are kept in a location. */
export type DeploymentScope =
  | { readonly kind: 'resourceGroup'; readonly subscriptionId: string; readonly resourceGroup: string }
  | { readonly kind: 'subscription'; readonly subscriptionId: string; readonly location: string }
  | { readonly kind: 'tenant'; readonly location: string };

export interface Deployment {
  readonly scope: DeploymentScope;
  readonly name: string;
  readonly template: JsonObject;
  /** By name, without the `value` around them. */
  readonly parameters: JsonObject;
}

/** A resource that a deployment works on. */
export interface DeploymentStep {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly error?: ErrorDetail;
}

export interface DeployOptions extends CallOptions {
  /** Whenever a resource's state is another than at the last look. */
  readonly onStep?: (step: DeploymentStep) => void;
}

export interface Deployed {
  readonly id: string;
  /** By name. */
  readonly outputs: JsonObject;
}

export type Change = 'Create' | 'Modify' | 'NoChange' | 'Delete' | 'Deploy' | 'Ignore' | 'Unsupported';

export interface ForecastChange {
  readonly id: string;
  readonly change: Change;
  /** Paths of the members that change. */
  readonly members: readonly string[];
}

export function deploymentId(scope: DeploymentScope, name: string): string {
  return `${scopeId(scope)}/providers/Microsoft.Resources/deployments/${name}`;
}

function scopeId(scope: DeploymentScope): string {
  if (scope.kind === 'tenant') return '';
  const subscription = `/subscriptions/${scope.subscriptionId}`;
  return scope.kind === 'subscription' ? subscription : `${subscription}/resourceGroups/${scope.resourceGroup}`;
}

/** Applies incrementally and waits. A deployment of the same name that is under way is waited for first. Throws what failed, by resource. */
export async function deploy(arm: ArmClient, deployment: Deployment, options: DeployOptions = {}): Promise<Deployed> {
  const { scope, name } = deployment;
  const id = deploymentId(scope, name);
  const seen = new Map<string, string>();
  const look = async (): Promise<void> => {
    if (options.onStep) await tellSteps(arm, id, options, seen, 0);
  };
  try {
    const accepted = await begun(arm, deployment, options);
    if (accepted.operation) await arm.wait(accepted.operation, { ...options, onPoll: look });
    await look();
  } catch (error) {
    if (!(error instanceof AzureError) || isAuthorization(error)) throw error;
    await look().catch(() => undefined);
    throw await failureOf(arm, id, error, options);
  }
  const made = await arm.get(id, deploymentsVersion, options);
  return { id, outputs: outputsOf(made) };
}

/** What a deployment gave the last time it was applied; undefined when it never was, or did not succeed. */
export async function deployedOutputs(
  arm: ArmClient,
  scope: DeploymentScope,
  name: string,
  options?: CallOptions,
): Promise<JsonObject | undefined> {
  const made = await arm.find(deploymentId(scope, name), deploymentsVersion, options);
  if (made === undefined) return undefined;
  return propertiesOf(made).provisioningState === 'Succeeded' ? outputsOf(made) : undefined;
}

/** Throws what Resource Manager and the providers find wrong before anything is done. */
export async function validate(arm: ArmClient, deployment: Deployment, options?: CallOptions): Promise<void> {
  const path = `${deploymentId(deployment.scope, deployment.name)}/validate`;
  const answer = await arm.post(path, deploymentsVersion, bodyOf(deployment), options);
  const error = errorIn(answer?.error === undefined ? undefined : answer);
  if (error) throw new AzureError({ status: 400, ...error, code: error.code || 'InvalidTemplateDeployment' });
}

/** What would change. */
export async function whatIf(
  arm: ArmClient,
  deployment: Deployment,
  options?: CallOptions,
): Promise<readonly ForecastChange[]> {
  const path = `${deploymentId(deployment.scope, deployment.name)}/whatIf`;
  const answer = (await arm.post(path, deploymentsVersion, bodyOf(deployment), options)) ?? {};
  const error = errorIn(answer.error === undefined ? undefined : answer);
  if (error) throw new AzureError({ status: 400, ...error, code: error.code || 'WhatIfFailed' });
  // Some ways of polling give the properties alone.
  const changes = propertiesOf(answer).changes ?? answer.changes;
  return (Array.isArray(changes) ? (changes as readonly JsonObject[]) : []).map((change) => ({
    id: String(change.resourceId),
    change: String(change.changeType) as Change,
    members: (Array.isArray(change.delta) ? (change.delta as readonly JsonObject[]) : []).map(({ path: at }) =>
      String(at),
    ),
  }));
}

/** Lists what a deployment did to each resource, those of deployments inside of it too. */
export async function* deploymentSteps(
  arm: ArmClient,
  id: string,
  options: CallOptions = {},
  depth = 0,
): AsyncGenerator<DeploymentStep> {
  for await (const operation of arm.list(`${id}/operations`, deploymentsVersion, options)) {
    const properties = propertiesOf(operation);
    const target = (properties.targetResource ?? {}) as JsonObject;
    if (typeof target.id !== 'string' || properties.provisioningOperation === 'EvaluateDeploymentOutput') continue;
    const type = String(target.resourceType ?? '');
    const error = errorIn(properties.statusMessage);
    yield {
      id: target.id,
      type,
      state: String(properties.provisioningState ?? ''),
      ...(error === undefined ? {} : { error }),
    };
    if (type.toLowerCase() !== 'microsoft.resources/deployments' || depth >= nestingMax) continue;
    try {
      yield* deploymentSteps(arm, target.id, options, depth + 1);
    } catch (error) {
      // One inside that has not begun has nothing to list.
      if (!isNotFound(error)) throw error;
    }
  }
}

const nestingMax = 4;

async function begun(arm: ArmClient, deployment: Deployment, options: DeployOptions) {
  const path = deploymentId(deployment.scope, deployment.name);
  const request = { method: 'PUT', path, apiVersion: deploymentsVersion, body: bodyOf(deployment) } as const;
  for (;;) {
    try {
      return await arm.begin(request, options);
    } catch (error) {
      if (!isAzureError(error, 'DeploymentActive')) throw error;
      await activeEnded(arm, path, options);
    }
  }
}

/** How it ends is not ours to judge: what we were asked for is applied after it. */
async function activeEnded(arm: ArmClient, path: string, options: CallOptions): Promise<void> {
  try {
    await arm.wait({ method: 'PUT', path: `${path}?api-version=${deploymentsVersion}` }, options);
  } catch (error) {
    if (!isNotFound(error) && !(error instanceof AzureError && error.status === undefined)) throw error;
  }
}

function bodyOf({ scope, template, parameters }: Deployment): JsonObject {
  const values = Object.entries(parameters).map(([name, value]): [string, Json] => [name, { value: value ?? null }]);
  return {
    ...(scope.kind === 'resourceGroup' ? {} : { location: scope.location }),
    properties: { mode: 'Incremental', template, parameters: Object.fromEntries(values) },
  };
}

function propertiesOf(document: JsonObject): JsonObject {
  return (document.properties ?? {}) as JsonObject;
}

function outputsOf(document: JsonObject): JsonObject {
  const outputs = (propertiesOf(document).outputs ?? {}) as JsonObject;
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]) => [name, (output as JsonObject | undefined)?.value]),
  );
}

async function tellSteps(
  arm: ArmClient,
  id: string,
  options: DeployOptions,
  seen: Map<string, string>,
  depth: number,
): Promise<void> {
  for await (const step of deploymentSteps(arm, id, options, depth)) {
    if (seen.get(step.id) === step.state) continue;
    seen.set(step.id, step.state);
    options.onStep?.(step);
  }
}

function isAuthorization({ code, status }: AzureError): boolean {
  return status === 401 || status === 403 || code === 'AuthorizationFailed';
}

/** The error of a deployment names itself; people need to know which resource failed, and why. */
async function failureOf(arm: ArmClient, id: string, error: AzureError, options: CallOptions): Promise<AzureError> {
  const failed: ErrorDetail[] = [];
  try {
    for await (const step of deploymentSteps(arm, id, options)) {
      if (step.state !== 'Failed' || step.type.toLowerCase() === 'microsoft.resources/deployments') continue;
      for (const { code, message } of step.error ? causesOf(step.error) : [])
        failed.push({ code, message, target: step.id });
    }
  } catch (listing) {
    if (!(listing instanceof AzureError)) throw listing;
  }
  if (failed.length === 0) return error;
  const [first] = failed;
  return new AzureError({
    ...(error.status === undefined ? {} : { status: error.status }),
    code: 'DeploymentFailed',
    message: failed.map((one) => `${one.target}: ${one.code}: ${one.message}`).join('; '),
    ...(first?.target === undefined ? {} : { target: first.target }),
    details: failed,
    cause: error,
  });
}

/** Resource Manager wraps a provider's error in its own. */
function causesOf(error: ErrorDetail): readonly ErrorDetail[] {
  return error.details === undefined || error.details.length === 0 ? [error] : error.details.flatMap(causesOf);
}
