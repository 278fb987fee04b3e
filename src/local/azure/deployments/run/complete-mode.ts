// Complete mode: what is in the group and not in the template is deleted.
import { ArmError, type ErrorBody } from '../../../../arm/errors.ts';
import { foldCase, idKey, parseResourceId } from '../../../../arm/resource-id.ts';
import type { ResourceRecord } from '../../kernel/record.ts';
import type { World } from '../../kernel/world.ts';
import type { PlannedResource } from '../template/plan.ts';
import { deploymentType } from '../template/resource-body.ts';
import { scopeOfDeployment, scopeText } from '../template/scope.ts';
import { detailOf } from './deploy-resource.ts';
import type { Execution } from './execute.ts';
import { operationIdOf, type Progress, readRun, runKey, writeStep } from './progress.ts';

/** The resources of a group that a deployment in complete mode deletes: tracked ones at the top, not of the template. */
export async function others(
  world: World,
  progress: Progress,
  group: string,
  deployed: readonly Pick<PlannedResource, 'id' | 'type'>[],
): Promise<readonly ResourceRecord[]> {
  const kept = new Set<string>();
  const keep = (key: string): void => {
    kept.add(key);
    // A child in the template keeps its parent.
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) kept.add(key.slice(0, at));
  };
  const pending = deployed.map(({ id, type }) => ({ key: id.key, type: foldCase(type) }));
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    keep(one.key);
    if (one.type !== deploymentType) continue;
    // What nested deployments deployed is part of it.
    const record = (await world.resources.read(one.key))?.body;
    const parsed = parseResourceId(one.key);
    const correlationId = record?.resource.properties?.correlationId;
    if (!parsed.ok || typeof correlationId !== 'string') continue;
    const run = await readRun(progress, runKey(parsed.id, correlationId));
    for (const id of run?.outputResources ?? []) {
      const inner = parseResourceId(id);
      if (inner.ok && !kept.has(inner.id.key)) pending.push({ key: inner.id.key, type: foldCase(inner.id.type) });
    }
  }
  const records = await world.resources.list({ group });
  return records.filter(
    ({ type, parent, resource }) =>
      type !== deploymentType &&
      resource.location !== undefined &&
      (parent === undefined || parent === idKey(group)) &&
      !kept.has(idKey(resource.id)),
  );
}

/** Deletes them, those that others use after the others. Answers what could not be deleted. */
export async function removeOthers(
  execution: Execution,
  deployed: readonly PlannedResource[],
): Promise<readonly ErrorBody[]> {
  const { world, progress, id, key, intent } = execution;
  const scope = scopeOfDeployment(id);
  if (scope.kind !== 'resourceGroup') return [];
  let left = await others(world, progress, scopeText(scope), deployed);
  for (;;) {
    const failures: ErrorBody[] = [];
    const still: ResourceRecord[] = [];
    for (const record of left) {
      const failure = await removeOne(world, intent.caller, record);
      if (failure === undefined) {
        const { resource } = record;
        await writeStep(progress, key, {
          kind: 'step',
          operationId: operationIdOf(key.run, `delete ${idKey(resource.id)}`),
          provisioningOperation: 'Delete',
          target: { id: resource.id, type: resource.type, name: resource.name },
          state: 'Succeeded',
          startedAt: world.clock.now(),
          endedAt: world.clock.now(),
          statusCode: 'OK',
        });
      } else {
        failures.push(failure);
        still.push(record);
      }
    }
    if (still.length === 0 || still.length === left.length) return failures;
    left = still;
  }
}

async function removeOne(
  world: World,
  caller: Execution['intent']['caller'],
  { resource, type }: ResourceRecord,
): Promise<ErrorBody | undefined> {
  const parsed = parseResourceId(resource.id);
  const apiVersion = newestVersion(world, type);
  if (!parsed.ok || apiVersion === undefined) return undefined;
  try {
    await world.access.demand(caller, `${resource.type}/delete`, resource.id);
    const written = await world.resources.delete(parsed.id, { apiVersion, caller });
    const ended =
      written?.operation === undefined ? undefined : await world.resources.finished(written.operation, world.stopping);
    return ended?.error === undefined ? undefined : { ...ended.error, target: resource.id };
  } catch (error) {
    if (world.stopping.aborted || !(error instanceof ArmError)) throw error;
    return detailOf(error, resource.id);
  }
}

function newestVersion({ providers }: World, fullType: string): string | undefined {
  for (const { namespace, types } of providers) {
    for (const { type, apiVersions } of types) if (foldCase(`${namespace}/${type}`) === fullType) return apiVersions[0];
  }
  return undefined;
}
