// POST of an action on a resource.
import { ArmError, notFound } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import { lostRace } from './conditions.ts';
import { demandSubscription } from './family.ts';
import { askFaults } from './inner-faults.ts';
import type { Kernel } from './kernel.ts';
import { concernsOperation } from './operations.ts';
import { anotherOperation } from './plan.ts';
import type { ActionRequest } from './provider.ts';
import type { Json } from './record.ts';
import type { PutOptions } from './resources.ts';
import { actionVerb, operationKey, partitionOf, readResource } from './state.ts';

type Request = Pick<ActionRequest, 'apiVersion' | 'body' | 'query' | 'caller'> & Pick<PutOptions, 'faults'>;

const attempts = 30;

export async function actOn(
  kernel: Kernel,
  id: ResourceId,
  name: string,
  request: Request,
): Promise<{ readonly result?: Json; readonly operation?: string }> {
  const known = kernel.catalogue.demand(id, request.apiVersion);
  const verb = foldCase(name);
  const { actions } = known.definition;
  const action = actions !== undefined && Object.hasOwn(actions, verb) ? actions[verb] : undefined;
  if (action === undefined)
    throw new ArmError(
      404,
      'InvalidResourceType',
      `The resource type '${known.definition.type}/${name.slice(0, 128)}' could not be found in the namespace '${known.namespace}' ` +
        `for api version '${request.apiVersion}'.`,
    );
  demandSubscription(kernel, id, known);
  const partition = partitionOf(id);
  const faults = request.faults ?? (await askFaults(kernel, 'POST', id));
  await kernel.locks.demand(partition, id.key, id.text, 'write');
  const { apiVersion, body, query, caller } = request;

  for (let attempt = 0; attempt < attempts; attempt++) {
    const document = await readResource(kernel.state, id.key);
    if (document === undefined) throw notFound(id);
    const record = document.body;
    if (action.asynchronous !== true && !concernsOperation(faults)) {
      const result = await action.run({ world: kernel.world(), id, record, apiVersion, body, query, caller });
      return result === undefined ? {} : { result };
    }
    if (record.operation !== undefined) throw known.definition.busy?.(record) ?? anotherOperation(record);
    const { location } = record.resource;
    const operation = kernel.operations.make({
      resourceId: record.resource.id,
      type: known.key,
      verb: actionVerb(verb),
      apiVersion,
      caller,
      query,
      faults,
      ...(location === undefined ? {} : { location }),
      ...(body === undefined ? {} : { secrets: { request: new Secret(JSON.stringify(body)) } }),
    });
    try {
      await kernel.state.batch(partition, [
        { kind: 'replace', version: document, body: { ...record, operation: operation.operationId } },
        { kind: 'create', id: operationKey(operation.operationId), body: operation },
      ]);
    } catch (error) {
      if (isStoreError(error, 'Changed', 'NotFound')) continue;
      throw error;
    }
    kernel.operations.arm(partition, operation);
    return { operation: operation.operationId };
  }
  throw lostRace();
}
