// An operation as those see it who poll it or wait for it.
import { ArmError } from '../../../arm/errors.ts';
import type { Kernel } from './kernel.ts';
import type { Json } from './record.ts';
import type { OperationView } from './resources.ts';
import { readOperation, type StoredOperation } from './state.ts';

const kinds: ReadonlySet<string> = new Set(['create', 'update', 'delete']);

export function viewOf(operation: StoredOperation): OperationView {
  const { operationId, resourceId, verb, status, startTime, endTime, error, secrets } = operation;
  return {
    id: operationId,
    resource: resourceId,
    kind: isKind(verb) ? verb : 'action',
    status: status === 'Running' ? 'InProgress' : status,
    startTime,
    ...(endTime === undefined ? {} : { endTime }),
    ...(error === undefined ? {} : { error }),
    ...(secrets?.result === undefined ? {} : { result: JSON.parse(secrets.result.reveal()) as Json }),
  };
}

function isKind(verb: string): verb is 'create' | 'update' | 'delete' {
  return kinds.has(verb);
}

/** What an operation failed with; undefined when it did not. */
export async function errorOf(
  { state }: Pick<Kernel, 'state'>,
  partition: string,
  operationId: string,
): Promise<ArmError | undefined> {
  const operation = (await readOperation(state, partition, operationId))?.body;
  const error = operation?.error;
  if (error === undefined) return undefined;
  const { code, message, ...more } = error;
  return new ArmError(operation?.errorStatus ?? 409, code, message, more);
}
