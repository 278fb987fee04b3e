// Asynchronous operations as documents. They live in the container and partition of the resource they are about, so that resource and
// operation are written in one batch: the functions here return what to put in it.
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Secret } from '../kit/secret.ts';
import type { Document, Operation as StoreOperation } from '../store/store.ts';
import type { ErrorBody } from './errors.ts';

/** From its last step on: how long an operation can be asked for. */
export const operationTtlSeconds = 604_800;

const terminalStatuses = ['Succeeded', 'Failed', 'Canceled'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

/** The field that the notification sender filters on: put it among the indexes of a container that holds operations. */
export const operationIndexes = [{ field: ['notification', 'state'], type: 'string' }] as const;

/** What must be sealed: put these among the sealed paths of a container that holds operations, whose store then needs a key ring. */
export const operationSealed = [['notificationUri']] as const;

/** What the store keeps of an operation. */
export interface OperationDocument {
  readonly documentType: 'operation';
  /** GUID; the operation's name on the wire. */
  readonly operationId: string;
  readonly subscriptionId: string;
  readonly location: string;
  /** What was asked for; the product's word: Create, Update, Delete… */
  readonly request: string;
  readonly resourceId: string;
  /** One of the terminal statuses, or the product's word for work under way. */
  readonly status: string;
  readonly startTime: string;
  readonly lastTransitionTime: string;
  readonly endTime?: string;
  readonly error?: ErrorBody;
  /** The HTTP status that fits the error, when known. */
  readonly errorStatus?: number;
  /** Who may see it; anybody in the subscription where these are absent. */
  readonly tenantId?: string;
  readonly clientId?: string;
  /** Started by the service itself: nobody outside may see it. */
  readonly internal?: boolean;
  readonly requestId?: string;
  readonly correlationId?: string;
  readonly clientRequestId?: string;
  readonly apiVersion?: string;
  /** Until ARM has been told of the end. Whoever knows it can speak to ARM in our name, hence sealed. */
  readonly notificationUri?: Secret;
  readonly notification?: NotificationRecord;
  /** The product's own. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** How far telling ARM has come. */
export interface NotificationRecord {
  readonly state: 'pending' | 'delivered' | 'refused' | 'expired';
  readonly attempts: number;
  /** RFC 3339: not before this. */
  readonly nextAttemptAt?: string;
  readonly lastError?: string;
}

export interface NewOperation {
  readonly request: string;
  readonly status: string;
  readonly subscriptionId: string;
  readonly location: string;
  readonly resourceId: string;
  /** Chosen in advance, or left out to have one made. */
  readonly operationId?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A document's id in its partition (the lower-case subscription id). Resource ids start with a slash, so they never clash. */
export function operationDocumentId(operationId: string): string {
  return `operation:${operationId.toLowerCase()}`;
}

/** Whether a document of a shared container is an operation. */
export function isOperation(body: unknown): body is OperationDocument {
  return typeof body === 'object' && body !== null && 'documentType' in body && body.documentType === 'operation';
}

export function isTerminal(status: string): status is TerminalStatus {
  return (terminalStatuses as readonly string[]).includes(status);
}

/**
 * An operation that a request starts: it remembers the caller, the ids and ARM's notification address. Without a request it is
 * internal: nobody outside sees it and nobody is told.
 */
export function newOperation(from: FastifyRequest | undefined, given: NewOperation, now: Date): OperationDocument {
  const time = now.toISOString();
  const { operationId = randomUUID(), ...rest } = given;
  const document = {
    documentType: 'operation' as const,
    ...rest,
    operationId: operationId.toLowerCase(),
    subscriptionId: given.subscriptionId.toLowerCase(),
    startTime: time,
    lastTransitionTime: time,
  };
  if (from === undefined) return { ...document, internal: true };
  const arm = from.arm;
  return {
    ...document,
    requestId: arm.requestId,
    correlationId: arm.correlationId,
    ...(arm.apiVersion === '' ? {} : { apiVersion: arm.apiVersion }),
    ...(arm.clientRequestId === undefined ? {} : { clientRequestId: arm.clientRequestId }),
    ...(arm.homeTenantId === undefined ? {} : { tenantId: arm.homeTenantId }),
    ...(arm.clientObjectId === undefined ? {} : { clientId: arm.clientObjectId }),
    ...(arm.notificationUri === undefined ? {} : { notificationUri: arm.notificationUri }),
  };
}

/** For the batch that also writes the resource. */
export function createOperation(document: OperationDocument): StoreOperation<OperationDocument> {
  return {
    kind: 'create',
    id: operationDocumentId(document.operationId),
    body: document,
    ttlSeconds: operationTtlSeconds,
  };
}

export interface Progress {
  readonly status: string;
  readonly error?: ErrorBody;
  readonly errorStatus?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * The operation one step further, for the batch that also writes the resource; undefined when there is nothing to write: it
 * has ended already (an end is final) or nothing would change.
 */
export function advanceOperation(
  stored: Document<OperationDocument>,
  to: Progress,
  now: Date,
): StoreOperation<OperationDocument> | undefined {
  const old = stored.body;
  if (isTerminal(old.status)) return undefined;
  const moved = old.status !== to.status;
  const sameError = old.errorStatus === to.errorStatus && JSON.stringify(old.error) === JSON.stringify(to.error);
  if (!moved && to.data === undefined && sameError) return undefined;
  const time = now.toISOString();
  // An error is of the step that reported it: the next step says its own or has none.
  const { error: _error, errorStatus: _errorStatus, ...kept } = old;
  const body: OperationDocument = {
    ...kept,
    status: to.status,
    ...(moved ? { lastTransitionTime: time } : {}),
    ...(isTerminal(to.status) ? { endTime: time } : {}),
    ...(to.error === undefined ? {} : { error: to.error }),
    ...(to.errorStatus === undefined ? {} : { errorStatus: to.errorStatus }),
    ...(to.data === undefined ? {} : { data: { ...old.data, ...to.data } }),
    ...(isTerminal(to.status) && old.notificationUri !== undefined
      ? { notification: { state: 'pending' as const, attempts: 0 } }
      : {}),
  };
  return { kind: 'replace', version: stored, body, ttlSeconds: operationTtlSeconds };
}

/** The status document of the wire: for polls and for ARM's notification. `id` is the status path. */
export interface OperationStatus {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly startTime: string;
  readonly endTime?: string;
  readonly error?: ErrorBody;
}

export function operationStatus(document: OperationDocument, id: string): OperationStatus {
  return {
    id,
    name: document.operationId,
    status: document.status,
    startTime: document.startTime,
    ...(document.endTime === undefined ? {} : { endTime: document.endTime }),
    ...(document.error === undefined ? {} : { error: document.error }),
  };
}

/** Same subscription, and the tenant and client that started it when those are known; case does not count. */
export function isVisible(document: OperationDocument, request: FastifyRequest, subscriptionId: string): boolean {
  return (
    document.internal !== true &&
    same(document.subscriptionId, subscriptionId) &&
    (document.tenantId === undefined || same(document.tenantId, request.arm.homeTenantId)) &&
    (document.clientId === undefined || same(document.clientId, request.arm.clientObjectId))
  );
}

function same(a: string, b: string | undefined): boolean {
  return b !== undefined && a.toLowerCase() === b.toLowerCase();
}
