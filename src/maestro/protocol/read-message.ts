// A CloudEvent to what it says.
import { parseBundle, parseBundleStatus } from './bundle-data.ts';
import type { CloudEvent } from './cloud-event.ts';
import { type Action, heartbeatType, manifestBundles, parseEventType } from './event-type.ts';
import { extension, optionalText, optionalTime, requiredInteger, requiredText } from './extensions.ts';
import type {
  HeartbeatMessage,
  Message,
  SpecMessage,
  SpecResyncMessage,
  StatusMessage,
  StatusResyncMessage,
} from './messages.ts';
import { type ObjectMeta, parseObjectMeta } from './object-meta.ts';
import { type Decoded, decoded, refused } from './refusal.ts';
import { parseSpecResync, parseStatusResync } from './resync.ts';

type Reader = (event: CloudEvent, action: Action) => Decoded<Message>;

/** Every pair of sub-resource and action that has a meaning. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['spec.create_request', readSpec],
  ['spec.update_request', readSpec],
  ['spec.delete_request', readSpec],
  ['spec.resync_response', readSpec],
  ['spec.resync_request', readSpecResync],
  ['status.update_request', readStatus],
  ['status.resync_response', readStatus],
  ['status.resync_request', readStatusResync],
]);

/** Total: whatever the event holds, the answer is a message or a refusal. */
export function readMessage(event: CloudEvent): Decoded<Message> {
  if (event.type === heartbeatType) return decoded<HeartbeatMessage>({ kind: 'heartbeat', id: event.id });
  const type = parseEventType(event.type);
  if (!type.ok) return type;
  const { dataType, subResource, action } = type.value;
  if (dataType !== manifestBundles) return refused('unknown-type', 'the event is not about manifest bundles');
  const reader = readers.get(`${subResource}.${action}`);
  return reader === undefined
    ? refused('unknown-type', `there is no ${action} of a ${subResource}`)
    : reader(event, action);
}

interface EnvelopeFields {
  readonly id: string;
  readonly source: string;
  readonly time?: string;
  readonly clusterName: string;
  readonly originalSource: string;
  readonly logTracing?: string;
}

function readEnvelope(event: CloudEvent): Decoded<EnvelopeFields> {
  const clusterName = requiredText(event, extension.clusterName);
  if (!clusterName.ok) return clusterName;
  const originalSource = optionalText(event, extension.originalSource);
  if (!originalSource.ok) return originalSource;
  const logTracing = event.extensions[extension.logTracing];
  return decoded({
    id: event.id,
    source: event.source,
    ...(event.time === undefined ? {} : { time: event.time }),
    clusterName: clusterName.value,
    originalSource: originalSource.value,
    ...(typeof logTracing === 'string' ? { logTracing } : {}),
  });
}

interface BundleFields extends EnvelopeFields {
  readonly resourceId: string;
  readonly resourceVersion: number;
  readonly metadata?: ObjectMeta;
}

function readBundleEnvelope(event: CloudEvent): Decoded<BundleFields> {
  const envelope = readEnvelope(event);
  if (!envelope.ok) return envelope;
  const resourceId = requiredText(event, extension.resourceId);
  if (!resourceId.ok) return resourceId;
  if (resourceId.value === '') return refused('invalid-attribute', "the event's resourceid is empty");
  if (envelope.value.clusterName === '') return refused('invalid-attribute', "the event's clustername is empty");
  const resourceVersion = requiredInteger(event, extension.resourceVersion);
  if (!resourceVersion.ok) return resourceVersion;
  const fields = { ...envelope.value, resourceId: resourceId.value, resourceVersion: resourceVersion.value };
  const text = optionalText(event, extension.metadata);
  if (!text.ok) return text;
  if (text.value === '') return decoded(fields);
  const metadata = parseObjectMeta(text.value);
  return metadata.ok ? decoded({ ...fields, metadata: metadata.value }) : metadata;
}

function readSpec(event: CloudEvent, action: Action): Decoded<SpecMessage> {
  const fields = readBundleEnvelope(event);
  if (!fields.ok) return fields;
  const time = optionalTime(event, extension.deletionTimestamp);
  if (!time.ok) return time;
  const message = { kind: 'spec', action: action as SpecMessage['action'], ...fields.value } as const;
  // Whoever deletes may leave the data out, and what is sent with a deletion is not looked at.
  if (time.value !== undefined) return decoded({ ...message, deletionTimestamp: time.value });
  if (action === 'delete_request') return decoded(message);
  if (event.data === undefined) return refused('invalid-data', 'the event has no data');
  const bundle = parseBundle(event.data);
  return bundle.ok ? decoded({ ...message, bundle: bundle.value }) : bundle;
}

function readStatus(event: CloudEvent, action: Action): Decoded<StatusMessage> {
  const fields = readBundleEnvelope(event);
  if (!fields.ok) return fields;
  const sequenceId = optionalText(event, extension.sequenceId);
  if (!sequenceId.ok) return sequenceId;
  const statusHash = optionalText(event, extension.statusHash);
  if (!statusHash.ok) return statusHash;
  if (event.data === undefined) return refused('invalid-data', 'the event has no data');
  const status = parseBundleStatus(event.data);
  if (!status.ok) return status;
  return decoded({
    kind: 'status',
    action: action as StatusMessage['action'],
    ...fields.value,
    sequenceId: sequenceId.value,
    statusHash: statusHash.value,
    status: status.value,
  });
}

function readSpecResync(event: CloudEvent): Decoded<SpecResyncMessage> {
  const envelope = readEnvelope(event);
  if (!envelope.ok) return envelope;
  const versions = parseSpecResync(event.data);
  return versions.ok ? decoded({ kind: 'spec-resync', ...envelope.value, resourceVersions: versions.value }) : versions;
}

function readStatusResync(event: CloudEvent): Decoded<StatusResyncMessage> {
  const envelope = readEnvelope(event);
  if (!envelope.ok) return envelope;
  const hashes = parseStatusResync(event.data);
  return hashes.ok ? decoded({ kind: 'status-resync', ...envelope.value, statusHashes: hashes.value }) : hashes;
}
