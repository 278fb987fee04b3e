// The gRPC service between sources, the server and, where the broker is gRPC, agents: `io.cloudevents.v1.CloudEventService`.
//
//   message PublishRequest { CloudEvent event = 1; }
//   message SubscriptionRequest { string source = 1; string cluster_name = 2; string data_type = 3; }
//
// What cannot be decoded reaches the handler as a refusal, so that a server can answer INVALID_ARGUMENT for it.
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { CloudEvent } from './cloud-event.ts';
import { maxDeliveredBytes } from './limits.ts';
import { decodeProtobufEvent, encodeProtobufEvent } from './protobuf-event.ts';
import { type Decoded, decoded, refused } from './refusal.ts';

export interface SubscriptionRequest {
  /** Of a source's subscription; empty from agents. */
  readonly source: string;
  /** Of an agent's subscription. */
  readonly clusterName: string;
  readonly dataType: string;
}

/** The header that a server sends on a new Subscribe stream before anything else; clients take its absence for a failure. */
export const subscriptionIdHeader = 'subscription-id';

/** How often a server sends a heartbeat on each Subscribe stream. */
export const heartbeatSeconds = 10;

export const serviceName = 'io.cloudevents.v1.CloudEventService';

export type Empty = Readonly<Record<never, never>>;

/** What a server gives to `server.addService(cloudEventService, …)`. */
export interface CloudEventHandlers extends UntypedServiceImplementation {
  readonly publish: handleUnaryCall<Decoded<CloudEvent>, Empty>;
  readonly subscribe: handleServerStreamingCall<Decoded<SubscriptionRequest>, CloudEvent>;
}

/** For `server.addService`, and for calls of a client. */
export const cloudEventService = {
  publish: {
    path: `/${serviceName}/Publish`,
    requestStream: false,
    responseStream: false,
    requestSerialize: encodePublishRequest,
    requestDeserialize: decodePublishRequest,
    responseSerialize: () => Buffer.alloc(0),
    responseDeserialize: () => ({}),
  },
  subscribe: {
    path: `/${serviceName}/Subscribe`,
    requestStream: false,
    responseStream: true,
    requestSerialize: encodeSubscriptionRequest,
    requestDeserialize: decodeSubscriptionRequest,
    responseSerialize: (event: CloudEvent) => bufferOf(encodeProtobufEvent(event, maxDeliveredBytes)),
    responseDeserialize: (bytes: Buffer) => decodeProtobufEvent(bytes, maxDeliveredBytes),
  },
} as const satisfies ServiceDefinition;

export function encodePublishRequest(event: CloudEvent): Buffer {
  return bufferOf(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(encodeProtobufEvent(event)).finish());
}

/** Total. */
export function decodePublishRequest(bytes: Uint8Array): Decoded<CloudEvent> {
  const fields = decodeFields(bytes);
  if (fields === undefined) return refused('malformed', 'the bytes are not a PublishRequest');
  const event = fields.get(1);
  return event === undefined ? refused('malformed', 'the request has no event') : decodeProtobufEvent(event);
}

export function encodeSubscriptionRequest(request: SubscriptionRequest): Buffer {
  const writer = new BinaryWriter();
  [request.source, request.clusterName, request.dataType].forEach((text, index) => {
    if (text !== '') writer.tag(index + 1, WireType.LengthDelimited).string(text);
  });
  return bufferOf(writer.finish());
}

/** Total. */
export function decodeSubscriptionRequest(bytes: Uint8Array): Decoded<SubscriptionRequest> {
  const fields = decodeFields(bytes);
  const texts = [1, 2, 3].map((field) => utf8(fields?.get(field)));
  const [source, clusterName, dataType] = texts;
  return fields === undefined || source === undefined || clusterName === undefined || dataType === undefined
    ? refused('malformed', 'the bytes are not a SubscriptionRequest')
    : decoded({ source, clusterName, dataType });
}

/** The last value of every field of bytes; undefined for what is not protobuf. */
function decodeFields(bytes: Uint8Array): ReadonlyMap<number, Uint8Array> | undefined {
  const fields = new Map<number, Uint8Array>();
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      if (wire === WireType.LengthDelimited && field <= 3) fields.set(field, reader.bytes());
      else reader.skip(wire, field);
    }
    return fields;
  } catch {
    return undefined;
  }
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8(bytes: Uint8Array = new Uint8Array()): string | undefined {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
