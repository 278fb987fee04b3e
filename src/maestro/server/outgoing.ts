// The events that the server sends: specs to agents, statuses to sources.
import { randomUUID } from 'node:crypto';
import { type CloudEvent, jsonContentType } from '../protocol/cloud-event.ts';
import { deletedCondition, type ManifestBundleStatus } from '../protocol/manifest-bundle.ts';
import type { SpecMessage, StatusMessage } from '../protocol/messages.ts';
import type { StatusHash } from '../protocol/resync.ts';
import { writeMessage } from '../protocol/write-message.ts';
import { bundleText, statusText } from './bundle-content.ts';
import type { BundleDocument } from './documents.ts';

/** How a bundle should be, to its agent. The name becomes the id, so that two sources' names cannot collide. */
export function specEvent(body: BundleDocument, sourceId: string, isResync: boolean): CloudEvent {
  const { id, version, deletedAt, consumerName, logTracing } = body;
  const isDeleted = deletedAt !== undefined;
  const change = version === 1 ? 'create_request' : 'update_request';
  const action = isResync ? 'resync_response' : isDeleted ? 'delete_request' : change;
  const event = writeMessage({
    kind: 'spec',
    action,
    id: isDeleted || isResync ? randomUUID() : body.eventId,
    source: sourceId,
    time: isDeleted || isResync ? new Date().toISOString() : body.eventTime,
    clusterName: consumerName,
    originalSource: '',
    ...(logTracing === undefined ? {} : { logTracing }),
    resourceId: id,
    resourceVersion: version,
    metadata: { ...body.metadata, name: id },
    ...(isDeleted ? { deletionTimestamp: new Date(deletedAt) } : {}),
  });
  return isDeleted ? event : withData(event, bundleText(body));
}

/** To an agent that has a bundle which is not there any more. */
export function goneEvent(
  gone: { readonly id: string; readonly version: number; readonly consumerName: string },
  sourceId: string,
  action: SpecMessage['action'],
): CloudEvent {
  const now = new Date();
  return writeMessage({
    kind: 'spec',
    action,
    id: randomUUID(),
    source: sourceId,
    time: now.toISOString(),
    clusterName: gone.consumerName,
    originalSource: '',
    resourceId: gone.id,
    resourceVersion: gone.version,
    metadata: { name: gone.id },
    deletionTimestamp: now,
  });
}

/** To an agent: the last statuses that the server has seen. */
export function statusResyncEvent(consumer: string, statusHashes: readonly StatusHash[], sourceId: string): CloudEvent {
  return writeMessage({
    kind: 'status-resync',
    id: randomUUID(),
    source: sourceId,
    time: new Date().toISOString(),
    clusterName: consumer,
    originalSource: '',
    statusHashes,
  });
}

const noStatus: ManifestBundleStatus = { conditions: [], resourceStatus: [] };

/** How a bundle is, to its source; undefined as long as its agent has not said. */
export function statusEvent(body: BundleDocument, sourceId: string): CloudEvent | undefined {
  const { status } = body;
  if (status === undefined) return undefined;
  const message: StatusMessage = {
    kind: 'status',
    action: status.action,
    id: randomUUID(),
    source: status.agent,
    time: status.at,
    clusterName: body.consumerName,
    originalSource: sourceId,
    resourceId: body.id,
    resourceVersion: status.version,
    metadata: body.metadata,
    sequenceId: status.sequenceId,
    statusHash: status.hash,
    status: noStatus,
  };
  return withData(writeMessage(message), statusText(body));
}

/** To a source that asks about a bundle which is gone: what it would have been told, had it listened. */
export function goneStatusEvent(resourceId: string, sourceId: string): CloudEvent {
  const now = new Date().toISOString();
  return writeMessage({
    kind: 'status',
    action: 'resync_response',
    id: randomUUID(),
    source: sourceId,
    time: now,
    // It belonged to one once; nobody knows to which.
    clusterName: 'unknown',
    originalSource: sourceId,
    resourceId,
    resourceVersion: 0,
    sequenceId: '',
    statusHash: '',
    status: {
      conditions: [
        {
          ...deletedCondition,
          status: 'True',
          lastTransitionTime: `${now.slice(0, 19)}Z`,
          message: 'The resource bundle does not exist',
        },
      ],
      resourceStatus: [],
    },
  });
}

function withData(event: CloudEvent, text: string): CloudEvent {
  return { ...event, dataContentType: jsonContentType, data: Buffer.from(text) };
}
