// A deployment being carried out. Every step is recorded before and after, so that it can be left at any instant and gone on with.
import { ArmError, type ErrorBody } from '../../../../arm/errors.ts';
import type { ResourceId } from '../../../../arm/resource-id.ts';
import type { World } from '../../kernel/world.ts';
import { expressionFailed, TemplateError } from '../expressions/template-error.ts';
import { evaluateOutputs, type OutputValue } from '../template/outputs.ts';
import type { PlannedResource } from '../template/plan.ts';
import { runtimeFunctions } from '../template/runtime-functions.ts';
import { removeOthers } from './complete-mode.ts';
import { awaitOperation, type Deploying, deployResource, detailOf } from './deploy-resource.ts';
import type { Intent } from './intent.ts';
import type { Nesting } from './nesting.ts';
import { prepareDeployment } from './prepared.ts';
import {
  changeRun,
  ensureRun,
  listSteps,
  operationIdOf,
  type Progress,
  type RunKey,
  type StepDocument,
  writeStep,
} from './progress.ts';
import { resourceReader } from './read-resource.ts';

/** Resources of one deployment that are written at the same time. */
const atOnce = 16;

export interface Execution {
  readonly world: World;
  readonly progress: Progress;
  readonly id: ResourceId;
  readonly key: RunKey;
  readonly intent: Intent;
  /** Whether the run was asked to stop. */
  isCancelled(): boolean;
  readonly nesting: Nesting;
}

/** Carries it out, or goes on with it. Throws the ArmError that the deployment fails with; resources that were made stay. */
export async function execute(execution: Execution): Promise<void> {
  const { world, progress, id, key } = execution;
  const run = await ensureRun(progress, key, {
    kind: 'run',
    deployment: id.key,
    state: 'Running',
    startedAt: world.clock.now(),
  });
  if (run.state === 'Succeeded') return;
  try {
    const { outputs, resources } = await carryOut(execution, run.cancel === true);
    await changeRun(progress, key, (body) => ({
      ...body,
      state: 'Succeeded',
      endedAt: world.clock.now(),
      outputs,
      outputResources: resources,
    }));
  } catch (error) {
    // What ends with the process is no failure: the run goes on after the next start.
    if (world.stopping.aborted) throw error;
    const failed = error instanceof ArmError ? error : internal(world, id, error);
    await changeRun(progress, key, (body) => ({
      ...body,
      state: failed.code === cancelledCode ? 'Canceled' : 'Failed',
      endedAt: world.clock.now(),
      error: detailOf(failed, id.text),
    }));
    throw failed;
  }
}

export const cancelledCode = 'DeploymentCanceled';

function internal(world: World, id: ResourceId, error: unknown): ArmError {
  world.logger.error({ err: error, deployment: id.text }, 'a deployment failed');
  return new ArmError(500, 'InternalServerError', 'The deployment failed because of an internal error. Try again.');
}

interface Made {
  readonly outputs: { readonly [name: string]: OutputValue };
  readonly resources: readonly string[];
}

async function carryOut(execution: Execution, cancelledBefore: boolean): Promise<Made> {
  const { world, progress, id, key, intent } = execution;
  const prepared = await prepareDeployment(world, id, { ...intent, parameters: { resolved: intent.parameters } });
  const deploying: Deploying = {
    world,
    prepared,
    caller: intent.caller,
    fetched: new Map(),
    read: resourceReader(world, intent.caller),
    nesting: execution.nesting,
    within: { ancestors: [...(intent.nested?.ancestors ?? []), id.key], root: intent.nested?.root ?? key.run },
  };
  const { plan } = prepared;
  const before = new Map((await listSteps(progress, key)).map((step) => [step.operationId, step]));
  const failures = await inOrder(
    plan.waits,
    () => cancelledBefore || execution.isCancelled(),
    async (at) => {
      const resource = plan.resources[at];
      if (resource === undefined || !resource.wanted || resource.existing) return undefined;
      return await step(execution, deploying, resource, before.get(operationIdOf(key.run, resource.id.key)));
    },
  );
  if (world.stopping.aborted) throw new ArmError(503, 'ServiceUnavailable', 'The cloud is stopping.');
  if (cancelledBefore || execution.isCancelled()) {
    throw new ArmError(409, cancelledCode, `The deployment '${id.name}' was canceled.`, { target: id.text });
  }
  if (failures.length > 0) throw deploymentFailed(failures, id);
  const deployed = plan.resources.filter(({ wanted, existing }) => wanted && !existing);
  if (intent.mode === 'Complete') {
    const blocked = await removeOthers(execution, deployed);
    if (blocked.length > 0) throw deploymentFailed(blocked, id);
  }
  const { context, locate } = prepared;
  const environment = context.environment(undefined, runtimeFunctions(plan.resources, locate, deploying.fetched));
  try {
    const outputs = await evaluateOutputs(context.template, environment, deploying.fetched, deploying.read);
    return { outputs, resources: deployed.map((resource) => resource.id.text) };
  } catch (error) {
    if (error instanceof TemplateError) throw outputsFailed(expressionFailed('outputs', error.message), id);
    if (error instanceof ArmError && !world.stopping.aborted) throw outputsFailed(error, id);
    throw error;
  }
}

function outputsFailed(error: ArmError, id: ResourceId): ArmError {
  return new ArmError(
    400,
    'DeploymentOutputEvaluationFailed',
    'Unable to evaluate template outputs. Please see error details and deployment operations. Please see https://aka.ms/arm-common-errors for usage details.',
    {
      target: id.text,
      details: [detailOf(error, id.text)],
    },
  );
}

function deploymentFailed(details: readonly ErrorBody[], id: ResourceId): ArmError {
  return new ArmError(
    409,
    'DeploymentFailed',
    'At least one resource deployment operation failed. Please list deployment operations for details. Please see https://aka.ms/arm-deployment-operations for usage details.',
    { target: id.text, details },
  );
}

/** One resource: recorded, done, recorded. Answers what it failed with; throws only when the process ends or the store fails. */
async function step(
  { world, progress, key }: Execution,
  deploying: Deploying,
  resource: PlannedResource,
  before: StepDocument | undefined,
): Promise<ErrorBody | undefined> {
  if (before?.state === 'Succeeded') return undefined;
  const started: StepDocument = before ?? {
    kind: 'step',
    operationId: operationIdOf(key.run, resource.id.key),
    provisioningOperation: 'Create',
    target: {
      id: resource.id.text,
      type: resource.type,
      name: resource.name,
      apiVersion: resource.apiVersion,
      ...(resource.symbol === undefined ? {} : { symbol: resource.symbol }),
    },
    state: 'Running',
    startedAt: world.clock.now(),
  };
  if (before === undefined) await writeStep(progress, key, started);
  try {
    if (started.waitsFor === undefined || !(await goneOn(world, resource, started.waitsFor))) {
      await deployResource(deploying, resource, before !== undefined, (waitsFor) =>
        writeStep(progress, key, { ...started, waitsFor }),
      );
    }
    await writeStep(progress, key, { ...started, state: 'Succeeded', endedAt: world.clock.now(), statusCode: 'OK' });
    return undefined;
  } catch (error) {
    if (world.stopping.aborted) throw error;
    if (!(error instanceof ArmError))
      world.logger.error({ err: error, resource: resource.id.text }, 'a resource could not be deployed');
    const detail = detailOf(error, resource.id.text);
    const statusCode = error instanceof ArmError ? statusWord(error.status) : 'InternalServerError';
    await writeStep(progress, key, {
      ...started,
      state: 'Failed',
      endedAt: world.clock.now(),
      statusCode,
      error: detail,
    });
    return detail;
  }
}

/** Waits for the operation that a run before this one began. False when it is forgotten: the resource is written again. */
async function goneOn(world: World, resource: PlannedResource, operation: string): Promise<boolean> {
  try {
    await awaitOperation(world, resource, operation);
    return true;
  } catch (error) {
    if (error instanceof ArmError && error.code === 'OperationNotFound') return false;
    throw error;
  }
}

const statusWords: { readonly [status: number]: string } = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
};

function statusWord(status: number): string {
  return statusWords[status] ?? (status >= 500 ? 'InternalServerError' : 'BadRequest');
}

/**
 * Runs what waits for nothing, then what waited for it, some at a time. What follows a failure is not run; what does not follow one is.
 * Answers the failures.
 */
async function inOrder(
  waits: readonly ReadonlySet<number>[],
  isStopped: () => boolean,
  run: (at: number) => Promise<ErrorBody | undefined>,
): Promise<readonly ErrorBody[]> {
  const open = waits.map((one) => one.size);
  const followers = waits.map((): number[] => []);
  for (const [at, targets] of waits.entries()) for (const target of targets) followers[target]?.push(at);
  const ready = [...open.keys()].filter((at) => open[at] === 0);
  const failures: ErrorBody[] = [];
  const running = new Set<Promise<void>>();
  let broken: { readonly error: unknown } | undefined;

  const start = (at: number): void => {
    const work = run(at)
      .then((failure) => {
        if (failure !== undefined) {
          failures.push(failure);
          return;
        }
        for (const follower of followers[at] ?? []) {
          const left = (open[follower] ?? 0) - 1;
          open[follower] = left;
          if (left === 0) ready.push(follower);
        }
      })
      .catch((error: unknown) => {
        broken ??= { error };
      })
      .finally(() => running.delete(work));
    running.add(work);
  };
  let next = 0;
  for (;;) {
    while (running.size < atOnce && broken === undefined && !isStopped()) {
      const at = ready[next];
      if (at === undefined) break;
      next++;
      start(at);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  if (broken !== undefined) throw broken.error;
  return failures;
}
