// Stopping a deployment: what is under way ends by itself, nothing more is begun.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId } from '../../../arm/resource-id.ts';
import type { ActionRequest } from '../kernel/provider.ts';
import { changeRun, keyOf, listSteps, type ProgressOf, readRun } from './run/progress.ts';
import { deploymentType } from './template/resource-body.ts';

/** Stops it and what is nested in it. Throws 409 when it is not active. */
export async function cancelDeployment(
  { world, id, record }: Pick<ActionRequest, 'world' | 'id' | 'record'>,
  progressOf: ProgressOf,
  cancelled: Set<string>,
): Promise<undefined> {
  const key = keyOf(id, record);
  const progress = await progressOf(world);
  const run = await readRun(progress, key);
  if (record.operation === undefined || run?.state !== 'Running') {
    const state = String(record.resource.properties?.provisioningState ?? 'Succeeded');
    throw new ArmError(
      409,
      'DeploymentCannotBeCancelled',
      `The deployment '${id.name}' cannot be cancelled because it is not active; its provisioning state is '${run?.state ?? state}'.`,
    );
  }
  cancelled.add(key.run);
  await changeRun(progress, key, (body) => (body.state === 'Running' ? { ...body, cancel: true } : undefined));
  for (const { state, target } of await listSteps(progress, key)) {
    if (state !== 'Running' || target === undefined || foldCase(target.type) !== deploymentType) continue;
    const parsed = parseResourceId(target.id);
    const inner = parsed.ok ? (await world.resources.read(parsed.id.key))?.body : undefined;
    if (!parsed.ok || inner?.operation === undefined) continue;
    try {
      await cancelDeployment({ world, id: parsed.id, record: inner }, progressOf, cancelled);
    } catch (error) {
      // It ended meanwhile.
      if (!(error instanceof ArmError)) throw error;
    }
  }
}
