// What is to be said, to a CloudEvent.
import { type CloudEvent, type ExtensionValue, jsonContentType } from './cloud-event.ts';
import { type Action, bundleEventType, heartbeatType, type SubResource } from './event-type.ts';
import { extension } from './extensions.ts';
import type { Message, SpecMessage, SpecResyncMessage, StatusMessage, StatusResyncMessage } from './messages.ts';

type Parts = {
  readonly type: string;
  readonly extensions: Readonly<Record<string, ExtensionValue | undefined>>;
  readonly data: unknown;
};

/** The event of a message. `clustername` and `originalsource` are there even when empty: peers look for them. */
export function writeMessage(message: Message): CloudEvent {
  if (message.kind === 'heartbeat') return { id: message.id, source: '', type: heartbeatType, extensions: {} };
  const { type, extensions, data } = parts(message);
  return {
    id: message.id,
    source: message.source,
    type,
    ...(message.time === undefined ? {} : { time: message.time }),
    extensions: present({
      ...extensions,
      [extension.clusterName]: message.clusterName,
      [extension.originalSource]: message.originalSource,
      [extension.logTracing]: message.logTracing,
    }),
    ...(data === undefined ? {} : { dataContentType: jsonContentType, data: Buffer.from(JSON.stringify(data)) }),
  };
}

function parts(message: SpecMessage | StatusMessage | SpecResyncMessage | StatusResyncMessage): Parts {
  switch (message.kind) {
    case 'spec':
      return bundleParts('spec', message.action, message, message.bundle, {
        [extension.deletionTimestamp]: message.deletionTimestamp,
      });
    case 'status':
      return bundleParts('status', message.action, message, message.status, {
        [extension.sequenceId]: message.sequenceId === '' ? undefined : message.sequenceId,
        [extension.statusHash]: message.statusHash === '' ? undefined : message.statusHash,
      });
    case 'spec-resync':
      return {
        type: bundleEventType('spec', 'resync_request'),
        extensions: {},
        data: { resourceVersions: message.resourceVersions },
      };
    case 'status-resync':
      return {
        type: bundleEventType('status', 'resync_request'),
        extensions: {},
        data: { statusHashes: message.statusHashes },
      };
  }
}

function bundleParts(
  subResource: SubResource,
  action: Action,
  message: SpecMessage | StatusMessage,
  data: unknown,
  more: Parts['extensions'],
): Parts {
  return {
    type: bundleEventType(subResource, action),
    extensions: {
      [extension.resourceId]: message.resourceId,
      [extension.resourceVersion]: message.resourceVersion,
      [extension.metadata]: message.metadata === undefined ? undefined : JSON.stringify(message.metadata),
      ...more,
    },
    data,
  };
}

function present(extensions: Parts['extensions']): Record<string, ExtensionValue> {
  const kept: Record<string, ExtensionValue> = {};
  for (const [name, value] of Object.entries(extensions)) if (value !== undefined) kept[name] = value;
  return kept;
}
