// CloudEvents 1.0 as Maestro's parties exchange them. This folder is the wire between a source (Clusters Service), the Maestro
// server and its agents; the same event travels as protobuf over gRPC (grpc-codec.ts), in binary mode over MQTT 5
// (mqtt-codec.ts) and as JSON (json-codec.ts). What the events say is in messages.ts.

/** An integer fits in 32 bits; a Date is a timestamp. Over MQTT every value arrives as text: read them by extensions.ts. */
export type ExtensionValue = string | number | boolean | Date | Uint8Array;

export type Extensions = Readonly<Record<string, ExtensionValue>>;

export interface CloudEvent {
  readonly id: string;
  /** Empty only in heartbeats. */
  readonly source: string;
  readonly type: string;
  /** RFC 3339 with up to nine decimals, as it was sent: a server that sends an event on keeps its time. */
  readonly time?: string;
  readonly subject?: string;
  readonly dataSchema?: string;
  readonly dataContentType?: string;
  /** By name, in lower case and without any prefix. Names that nobody here knows are passed on. */
  readonly extensions: Extensions;
  readonly data?: Uint8Array;
}

export const specVersion = '1.0';
export const jsonContentType = 'application/json';
/** Structured mode: the whole event as one JSON document. */
export const structuredContentType = 'application/cloudevents+json';

/** What CloudEvents allows as the name of an attribute. */
export const attributeName = /^[a-z0-9]{1,64}$/;
