// Applies a plan to Azure: template after template, each waited for. What one gives is read from Azure and goes into those after it, so
// nothing is kept here and a run can be repeated, by anybody, from anywhere.
import type { ArmClient } from '../azure/arm-client.ts';
import { blobService, serveWebContainer } from '../azure/blobs.ts';
import type { Credential } from '../azure/credential.ts';
import {
  type Deployment,
  type DeploymentScope,
  type DeploymentStep,
  deploy,
  deployedOutputs,
  type ForecastChange,
  whatIf,
} from '../azure/deployments.ts';
import type { AzureEnvironment } from '../azure/environment.ts';
import { AzureError, isNotFound } from '../azure/errors.ts';
import type { JsonObject } from '../azure/json.ts';
import { type Sleep, sleep } from '../azure/retry.ts';
import { namespacesOf, type Plan, type PlanStep, parametersOf } from './deploy-plan.ts';

/** What a run tells while it goes on. */
export interface DeployEvents {
  onStart?(step: PlanStep): void;
  onResource?(step: PlanStep, resource: DeploymentStep): void;
  onDone?(step: PlanStep, outputs: JsonObject): void;
  onRegister?(namespace: string, subscriptionId: string): void;
}

export interface DeployTarget {
  readonly arm: ArmClient;
  readonly environment: AzureEnvironment;
  readonly credential: Credential;
  readonly sleep?: Sleep;
  readonly signal?: AbortSignal;
}

/** A step that failed: which, at which resources, and what to do. */
export class DeployError extends Error {
  readonly step: PlanStep;

  constructor(step: PlanStep, cause: AzureError) {
    const advice = cause.advice === undefined ? '' : ` ${cause.advice}`;
    const code = cause.code === 'DeploymentFailed' ? '' : `${cause.code}: `;
    const id = cause.requestId === undefined ? '' : ` (request ${cause.requestId})`;
    super(`${step.scope}/${step.name} failed: ${code}${cause.message}${id}${advice}`, { cause });
    this.name = 'DeployError';
    this.step = step;
  }
}

/** Applies the plan's steps. Gives all outputs, those of what it needs included. Throws {@link DeployError}. */
export async function applyPlan(plan: Plan, target: DeployTarget, events: DeployEvents = {}): Promise<JsonObject> {
  let outputs = await neededOutputs(plan, target);
  await registerProviders(plan, target, events);
  for (const step of plan.steps) {
    const deployment = deploymentOf(step, plan, outputs);
    events.onStart?.(step);
    const made = await told(step, () =>
      deploy(target.arm, deployment, {
        ...signalOf(target),
        onStep: (resource) => events.onResource?.(step, resource),
      }),
    );
    outputs = { ...outputs, ...made.outputs };
    await told(step, () => afterwards(step, target, outputs));
    events.onDone?.(step, made.outputs);
  }
  return outputs;
}

export interface StepForecast {
  readonly step: PlanStep;
  /** Undefined: what it depends on has not been applied, so all of it is new. */
  readonly changes: readonly ForecastChange[] | undefined;
}

/** What applying the plan would change. */
export async function forecastPlan(plan: Plan, target: DeployTarget): Promise<readonly StepForecast[]> {
  let outputs = await neededOutputs(plan, target);
  const forecasts: StepForecast[] = [];
  let complete = true;
  for (const step of plan.steps) {
    const changes = complete ? await changesOf(step, plan, outputs, target) : undefined;
    forecasts.push({ step, changes });
    const known: JsonObject | undefined = complete ? await outputsOf(step, plan, outputs, target) : undefined;
    complete = known !== undefined;
    outputs = { ...outputs, ...known };
  }
  return forecasts;
}

async function changesOf(
  step: PlanStep,
  plan: Plan,
  outputs: JsonObject,
  target: DeployTarget,
): Promise<readonly ForecastChange[] | undefined> {
  try {
    const changes = await whatIf(target.arm, deploymentOf(step, plan, outputs), signalOf(target));
    // What else is in the group is not the template's affair.
    return changes.filter(({ change }) => change !== 'Ignore').map(withoutHidden);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (error instanceof AzureError) throw new DeployError(step, error);
    throw error;
  }
}

/** Members that Azure takes and does not show again: in a forecast they look as if they were always new. */
const hidden: readonly { readonly type: RegExp; readonly member: string }[] = [
  { type: /\/Microsoft\.DocumentDB\/databaseAccounts\/[^/]+\/sqlDatabases\//i, member: 'properties.options' },
];

function withoutHidden(forecast: ForecastChange): ForecastChange {
  if (forecast.change !== 'Modify') return forecast;
  const members = forecast.members.filter(
    (member) => !hidden.some((rule) => rule.type.test(forecast.id) && member.startsWith(rule.member)),
  );
  return { ...forecast, members, change: members.length === 0 ? 'NoChange' : 'Modify' };
}

async function neededOutputs(plan: Plan, target: DeployTarget): Promise<JsonObject> {
  let outputs: JsonObject = {};
  for (const step of plan.needed) {
    const known = await outputsOf(step, plan, outputs, target);
    if (known === undefined) {
      throw new Error(
        `the ${step.scope} scope has not been applied whole (${step.scope}/${step.name} is missing): run aro deploy --scope ${step.scope} --location ${plan.location} first`,
      );
    }
    outputs = { ...outputs, ...known };
  }
  return outputs;
}

async function outputsOf(
  step: PlanStep,
  plan: Plan,
  outputs: JsonObject,
  target: DeployTarget,
): Promise<JsonObject | undefined> {
  return told(step, () => deployedOutputs(target.arm, scopeOf(step, plan, outputs), step.deployment, signalOf(target)));
}

function deploymentOf(step: PlanStep, plan: Plan, outputs: JsonObject): Deployment {
  return {
    scope: scopeOf(step, plan, outputs),
    name: step.deployment,
    template: step.template,
    parameters: parametersOf(step, { ...plan.values, ...outputs, ...plan.fixed }),
  };
}

function scopeOf(step: PlanStep, plan: Plan, outputs: JsonObject): DeploymentScope {
  const { subscriptionId, group } = step;
  if (group === undefined) return { kind: 'subscription', subscriptionId, location: plan.location };
  const resourceGroup = outputs[group];
  if (typeof resourceGroup === 'string') return { kind: 'resourceGroup', subscriptionId, resourceGroup };
  throw new Error(`${step.scope}/${step.name} is for the group ${group}, which no template before it gives`);
}

async function afterwards(step: PlanStep, target: DeployTarget, outputs: JsonObject): Promise<void> {
  const url = step.webContainer === undefined ? undefined : outputs[step.webContainer];
  if (typeof url !== 'string') return;
  // It is no property of the account in Resource Manager, so no template can say it.
  await serveWebContainer(await blobService(target.environment, target.credential, url));
}

async function told<T>(step: PlanStep, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof AzureError ? new DeployError(step, error) : error;
  }
}

function signalOf({ signal }: DeployTarget): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

const providersVersion = '2021-04-01';
const registrationPollMs = 5000;
const alwaysRegistered: ReadonlySet<string> = new Set(['Microsoft.Resources', 'Microsoft.Authorization']);

/** Every subscription must know the namespaces that are used in it. */
async function registerProviders(plan: Plan, target: DeployTarget, events: DeployEvents): Promise<void> {
  const wanted = new Map<string, { readonly step: PlanStep; readonly namespace: string }>();
  for (const step of plan.steps) {
    for (const namespace of namespacesOf(step.template)) {
      if (alwaysRegistered.has(namespace)) continue;
      wanted.set(`/subscriptions/${step.subscriptionId}/providers/${namespace}`, { step, namespace });
    }
  }
  for (const [path, { step, namespace }] of wanted) {
    await told(step, async () => {
      const { registrationState } = await target.arm.get(path, providersVersion, signalOf(target));
      if (registrationState === 'Registered') return;
      events.onRegister?.(namespace, step.subscriptionId);
      let now = await target.arm.post(`${path}/register`, providersVersion, undefined, signalOf(target));
      while (now?.registrationState !== 'Registered') {
        await (target.sleep ?? sleep)(registrationPollMs, target.signal);
        now = await target.arm.get(path, providersVersion, signalOf(target));
      }
    });
  }
}
