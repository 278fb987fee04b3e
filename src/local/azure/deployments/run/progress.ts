// How far deployments have come: one document for each run and one for each resource of it, so that a run goes on where it was when
// the process ended, and clients can list its operations.
import { createHash } from 'node:crypto';
import type { ErrorBody } from '../../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../../arm/resource-id.ts';
import { isStoreError } from '../../../../store/errors.ts';
import type { Container, Document, Store } from '../../../../store/store.ts';
import type { ResourceRecord } from '../../kernel/record.ts';
import type { World } from '../../kernel/world.ts';
import type { OutputValue } from '../template/outputs.ts';

export type RunState = 'Running' | 'Succeeded' | 'Failed' | 'Canceled';

export interface RunDocument {
  readonly kind: 'run';
  /** Folded id of the deployment. */
  readonly deployment: string;
  readonly state: RunState;
  /** Epoch milliseconds by the cloud's clock. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly cancel?: true;
  readonly outputs?: { readonly [name: string]: OutputValue };
  readonly outputResources?: readonly string[];
  readonly error?: ErrorBody;
}

export interface StepDocument {
  readonly kind: 'step';
  readonly operationId: string;
  readonly provisioningOperation: 'Create' | 'Read' | 'EvaluateDeploymentOutput' | 'Delete';
  /** As text. */
  readonly target?: {
    readonly id: string;
    readonly type: string;
    readonly name: string;
    readonly apiVersion?: string;
    readonly symbol?: string;
  };
  readonly state: 'Running' | 'Succeeded' | 'Failed';
  /** The kernel's operation that it waits for. */
  readonly waitsFor?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly statusCode?: string;
  readonly error?: ErrorBody;
}

export type ProgressDocument = RunDocument | StepDocument;
export type Progress = Container<ProgressDocument>;

/** The last run of each deployment, and its steps. */
export function openProgress(store: Store): Promise<Progress> {
  return store.container<ProgressDocument>({ name: 'deployments_progress' });
}

/** A run is named by the deployment's correlation id, which every PUT makes anew. */
export interface RunKey {
  readonly partition: string;
  readonly run: string;
}

export function runKey(id: ResourceId, correlationId: string): RunKey {
  return { partition: foldCase(id.subscriptionId ?? 'tenant'), run: foldCase(correlationId) };
}

/** 16 digits, the same for the same resource of the same run. */
export function operationIdOf(run: string, what: string): string {
  return createHash('sha256').update(`${run} ${what}`).digest('hex').slice(0, 16).toUpperCase();
}

const runId = (run: string): string => `${run}/run`;
const stepId = (run: string, operationId: string): string => `${run}/step/${operationId}`;

export async function readRun(progress: Progress, { partition, run }: RunKey): Promise<RunDocument | undefined> {
  const document = await progress.read({ partition, id: runId(run) });
  return document?.body.kind === 'run' ? document.body : undefined;
}

/** Writes the run, or leaves the one that is there. */
export async function ensureRun(
  progress: Progress,
  { partition, run }: RunKey,
  body: RunDocument,
): Promise<RunDocument> {
  try {
    await progress.create({ partition, id: runId(run) }, body);
    return body;
  } catch (error) {
    if (!isStoreError(error, 'Exists')) throw error;
    return (await readRun(progress, { partition, run })) ?? body;
  }
}

export async function changeRun(
  progress: Progress,
  { partition, run }: RunKey,
  change: (body: RunDocument) => RunDocument | undefined,
): Promise<void> {
  await progress.update({ partition, id: runId(run) }, (body) => (body.kind === 'run' ? change(body) : undefined));
}

/** Writes a step, whatever was known of it. */
export async function writeStep(progress: Progress, { partition, run }: RunKey, step: StepDocument): Promise<void> {
  const key = { partition, id: stepId(run, step.operationId) };
  try {
    await progress.create(key, step);
  } catch (error) {
    if (!isStoreError(error, 'Exists')) throw error;
    await progress.update(key, () => step);
  }
}

export async function readStep(
  progress: Progress,
  { partition, run }: RunKey,
  operationId: string,
): Promise<StepDocument | undefined> {
  const document = await progress.read({ partition, id: stepId(run, operationId) });
  return document?.body.kind === 'step' ? document.body : undefined;
}

/** All steps of a run; there are at most as many as a template has resources, and two. */
export async function listSteps(progress: Progress, key: RunKey): Promise<readonly StepDocument[]> {
  const steps = (await documentsOf(progress, key)).flatMap(({ body }) => (body.kind === 'step' ? [body] : []));
  return steps.sort((a, b) => a.startedAt - b.startedAt || (a.operationId < b.operationId ? -1 : 1));
}

export async function forgetRun(progress: Progress, key: RunKey): Promise<void> {
  for (const document of await documentsOf(progress, key)) {
    try {
      await progress.delete(document);
    } catch (error) {
      if (!isStoreError(error, 'NotFound', 'Changed')) throw error;
    }
  }
}

async function documentsOf(
  progress: Progress,
  { partition, run }: RunKey,
): Promise<readonly Document<ProgressDocument>[]> {
  const found: Document<ProgressDocument>[] = [];
  let continuation: string | undefined;
  do {
    const page = await progress.query({
      partition,
      filter: { op: 'prefix', field: 'id', value: `${run}/` },
      limit: 1000,
      ...(continuation === undefined ? {} : { continuation }),
    });
    found.push(...page.documents);
    continuation = page.continuation;
  } while (continuation !== undefined);
  return found;
}

/** The run of a deployment's record: its last. */
export function keyOf(id: ResourceId, { resource }: ResourceRecord): RunKey {
  const { correlationId } = resource.properties ?? {};
  return runKey(id, typeof correlationId === 'string' ? correlationId : '');
}

export type ProgressOf = (world: Pick<World, 'store'>) => Promise<Progress>;

/** One container for each world; opened when it is first asked for. */
export function progressReader(): ProgressOf {
  const opened = new WeakMap<World['store'], Promise<Progress>>();
  return ({ store }) => {
    const known = opened.get(store) ?? openProgress(store);
    opened.set(store, known);
    return known;
  };
}
