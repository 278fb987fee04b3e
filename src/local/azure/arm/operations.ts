// Asynchronous operations on the wire: the headers that lead to them, and what pollers are answered.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, isGuid, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { OperationView } from '../kernel/resources.ts';
import type { Answer, ArmCall } from './call.ts';
import type { KnownType } from './registry.ts';

/** How namespaces spell the paths of their operations: the status, and the result. */
const spellings: { readonly [namespace: string]: readonly [status: string, result: string] } = {
  'microsoft.network': ['operations', 'operationResults'],
  'microsoft.compute': ['operations', 'operations'],
  'microsoft.containerservice': ['operations', 'operationresults'],
  'microsoft.storage': ['asyncoperations', 'asyncoperations'],
  'microsoft.documentdb': ['operationsStatus', 'operationResults'],
  'microsoft.dbforpostgresql': ['azureAsyncOperation', 'operationResults'],
  'microsoft.cdn': ['operationresults', 'operationresults'],
  'microsoft.eventgrid': ['operationsStatus', 'operationResults'],
};
const otherwise = ['operationStatuses', 'operationResults'] as const;

const statusWords: ReadonlySet<string> = new Set([
  'operations',
  'operationstatuses',
  'operationstatus',
  'operationsstatus',
  'asyncoperations',
  'azureasyncoperation',
]);
const resultWords: ReadonlySet<string> = new Set(['operationresults', 'operationresult']);

/** The namespace under which a type's operations are polled: one that several share is told apart by nothing else. */
function pathOf(id: ResourceId, known: KnownType, operation: string, location: string, word: 0 | 1): string {
  const [status, result] = spellings[foldCase(known.namespace)] ?? otherwise;
  const front = id.subscriptionId === undefined ? '' : `/subscriptions/${id.subscriptionId}`;
  const [spelt, mark] = word === 0 ? [status, ''] : [result, result === status ? 'monitor=true' : ''];
  return `${front}/providers/${known.namespace}/locations/${encodeURIComponent(location)}/${spelt}/${operation}${mark && `?${mark}`}`;
}

/** The headers of an answer that started an operation. */
export function operationHeaders(
  call: ArmCall,
  id: ResourceId,
  known: KnownType,
  operation: string,
  resourceLocation: string | undefined,
): { readonly [name: string]: string } {
  const place = foldCase((resourceLocation ?? 'global').replaceAll(' ', ''));
  const link = (word: 0 | 1): string => withVersion(call, pathOf(id, known, operation, place, word));
  const headers = known.type.asynchrony?.headers ?? 'both';
  return {
    ...(headers === 'Location' ? {} : { 'azure-asyncoperation': link(0) }),
    // A PUT with both is polled at the status, and then the resource itself is read.
    ...(headers === 'Azure-AsyncOperation' || (headers === 'both' && call.method === 'PUT')
      ? {}
      : { location: link(1) }),
    'retry-after': String(call.retryAfterSeconds()),
  };
}

/** Of a resource group's delete, which is polled in the subscription itself. */
export function groupOperationHeaders(
  call: ArmCall,
  id: ResourceId,
  operation: string,
): { readonly [name: string]: string } {
  return {
    location: withVersion(call, `/subscriptions/${id.subscriptionId ?? ''}/operationresults/${operation}`),
    'retry-after': String(call.retryAfterSeconds()),
  };
}

function withVersion(call: ArmCall, path: string): string {
  const joint = path.includes('?') ? '&' : '?';
  return `${call.origin}${path}${joint}api-version=${encodeURIComponent(call.apiVersion)}`;
}

export interface OperationPath {
  readonly subscriptionId: string | undefined;
  readonly operation: string;
  readonly asks: 'status' | 'result';
}

/** Whether an id is the path of an operation: `…/providers/<namespace>/locations/<location>/<operations>/<guid>`. */
export function operationPath(id: ResourceId, query: ArmCall['query']): OperationPath | undefined {
  if (id.types.length !== 2 || id.extends !== undefined || foldCase(id.types[0] ?? '') !== 'locations')
    return undefined;
  const word = foldCase(id.types[1] ?? '');
  const isResult = resultWords.has(word) || (statusWords.has(word) && query.monitor === 'true');
  if (!isResult && !statusWords.has(word)) return undefined;
  return { subscriptionId: id.subscriptionId, operation: id.name, asks: isResult ? 'result' : 'status' };
}

/** Answers a poll. An operation that is unknown, or over for long, is 404. */
export async function pollOperation(call: ArmCall, path: OperationPath): Promise<Answer> {
  const operation = isGuid(path.operation) ? await readOperation(call, path) : undefined;
  if (!operation)
    throw new ArmError(404, 'OperationNotFound', `The operation '${path.operation.slice(0, 64)}' was not found.`);
  return path.asks === 'status' ? statusAnswer(call, operation) : resultAnswer(call, operation);
}

/** Where nothing takes time, a poll waits for the end rather than sending the client away for the seconds it thinks right. */
const patienceMs = 1000;

async function readOperation(call: ArmCall, path: OperationPath): Promise<OperationView | undefined> {
  const { resources } = call.world;
  const read = () => resources.operation(path.subscriptionId, foldCase(path.operation));
  const found = await read();
  if (found?.status !== 'InProgress' || call.retryAfterSeconds() > 0) return found;
  const patience = AbortSignal.timeout(patienceMs);
  const outcome = await resources.finished(found.id, patience).catch(() => undefined);
  return outcome === undefined ? found : read();
}

function statusAnswer(call: ArmCall, operation: OperationView): Answer {
  const { id, status, startTime, endTime, error, result } = operation;
  const body = {
    id: `/${call.segments.join('/')}`,
    name: id,
    status,
    startTime,
    ...(endTime === undefined ? {} : { endTime }),
    ...(status === 'InProgress' ? {} : { percentComplete: 100 }),
    ...(result === undefined ? {} : { properties: { output: result } }),
    ...(error === undefined ? {} : { error }),
  };
  return status === 'InProgress'
    ? { status: 200, headers: { 'retry-after': String(call.retryAfterSeconds()) }, body }
    : { status: 200, body };
}

async function resultAnswer(call: ArmCall, operation: OperationView): Promise<Answer> {
  const { status, error, kind, result, resource } = operation;
  if (status === 'InProgress') {
    const here = call.segments.map(encodeURIComponent).join('/');
    const monitor = call.query.monitor === 'true' ? '?monitor=true' : '';
    return {
      status: 202,
      headers: { location: withVersion(call, `/${here}${monitor}`), 'retry-after': String(call.retryAfterSeconds()) },
    };
  }
  if (error !== undefined) {
    const { code, message, ...more } = error;
    throw new ArmError(409, code, message, more);
  }
  if (kind === 'delete') return { status: 200 };
  if (kind === 'action') return result === undefined ? { status: 200 } : { status: 200, body: result };
  const id = parseResourceId(resource);
  return id.ok ? { status: 200, body: await call.world.resources.show(id.id, call.apiVersion) } : { status: 204 };
}
