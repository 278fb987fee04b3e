// Decoders are total: any bytes give an event or a refusal, and what is written is read back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CloudEvent, ExtensionValue } from './cloud-event.ts';
import go from './fixtures/go-libraries.json' with { type: 'json' };
import {
  decodePublishRequest,
  decodeSubscriptionRequest,
  encodePublishRequest,
  encodeSubscriptionRequest,
} from './grpc-service.ts';
import { decodeJsonEvent, encodeJsonEvent, eventFromJson } from './json-codec.ts';
import { decodeMqtt, encodeMqtt } from './mqtt-codec.ts';
import { parseObjectMeta } from './object-meta.ts';
import { decodeProtobufEvent } from './protobuf-event.ts';
import { readMessage } from './read-message.ts';
import { accepted, type Decoded } from './refusal.ts';
import { compareSequenceIds } from './sequence-id.ts';
import { formatTimestamp, parseTimestamp } from './timestamp.ts';
import { parseTopic } from './topics.ts';

const refusalCodes = new Set([
  'too-large',
  'unknown-encoding',
  'malformed',
  'missing-attribute',
  'invalid-attribute',
  'unknown-type',
  'invalid-data',
]);

function isTotal<T>(result: Decoded<T>): void {
  if (!result.ok) assert.ok(refusalCodes.has(result.refusal.code));
}

function eventIsTotal(result: Decoded<CloudEvent>): void {
  isTotal(result);
  if (result.ok) isTotal(readMessage(result.value));
}

/** Valid bytes with a few of them changed, taken out or put in: what random bytes never get near to. */
const damaged = fc
  .tuple(
    fc.constantFrom(...Object.values(go.protobuf)),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom('set', 'cut', 'put', 'end')), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([hex, edits]) => {
    const bytes = [...Buffer.from(hex, 'hex')];
    for (const [place, value, edit] of edits) {
      const at = bytes.length === 0 ? 0 : place % bytes.length;
      if (edit === 'set') bytes[at] = value;
      else if (edit === 'cut') bytes.splice(at, 1);
      else if (edit === 'put') bytes.splice(at, 0, value);
      else bytes.splice(at);
    }
    return Uint8Array.from(bytes);
  });

test('any bytes, and damaged messages, give an event or a refusal on gRPC', () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged), (bytes) => {
      eventIsTotal(decodePublishRequest(bytes));
      eventIsTotal(decodeProtobufEvent(bytes));
      isTotal(decodeSubscriptionRequest(bytes));
    }),
    { numRuns: 2000 },
  );
});

test('any properties and payload give an event or a refusal on MQTT', () => {
  const names = fc.oneof(
    fc.constantFrom('ce-specversion', 'ce-id', 'ce-source', 'ce-type', 'ce-time', 'ce-__proto__', 'ce-constructor'),
    fc.string(),
  );
  const values = fc.oneof(fc.constantFrom('1.0', ''), fc.string(), fc.array(fc.string()));
  fc.assert(
    fc.property(
      fc.dictionary(names, values),
      fc.option(fc.string(), { nil: undefined }),
      fc.uint8Array(),
      (u, type, p) => {
        const contentType = type === undefined ? {} : { contentType: type };
        eventIsTotal(decodeMqtt({ payload: p, properties: { ...contentType, userProperties: u } }));
        eventIsTotal(decodeMqtt({ payload: p, properties: { contentType: 'application/cloudevents+json' } }));
      },
    ),
  );
  eventIsTotal(decodeMqtt({ payload: Buffer.alloc(0) }));
});

test('any JSON gives an event or a refusal', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      eventIsTotal(eventFromJson(value));
      eventIsTotal(decodeJsonEvent(Buffer.from(JSON.stringify(value))));
      isTotal(parseObjectMeta(JSON.stringify(value)));
    }),
  );
});

test('any data give a message or a refusal, whatever the type of the event', () => {
  const types = [
    'spec.create_request',
    'spec.delete_request',
    'spec.resync_request',
    'spec.resync_response',
    'status.update_request',
    'status.resync_request',
    'status.delete_request',
  ].map((rest) => `io.open-cluster-management.works.v1alpha1.manifestbundles.${rest}`);
  const members = fc.dictionary(
    fc.constantFrom('manifests', 'conditions', 'resourceStatus', 'manifestBundle', 'resourceVersions', 'statusHashes'),
    fc.jsonValue(),
  );
  const data = fc.oneof(
    fc.uint8Array(),
    members.map((value) => Buffer.from(JSON.stringify(value))),
  );
  fc.assert(
    fc.property(fc.constantFrom(...types), data, (type, data) => {
      const extensions = { resourceid: 'a', resourceversion: '1', clustername: 'c', originalsource: 'maestro' };
      isTotal(readMessage({ id: 'i', source: 's', type, extensions, data }));
    }),
    { numRuns: 1000 },
  );
});

test('any text is a topic, a time and a sequence id or is none', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      isTotal(parseTopic(a));
      compareSequenceIds(a, b);
      parseTimestamp(a);
    }),
  );
});

test('a time is written and read back', () => {
  const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
  fc.assert(
    fc.property(seconds, fc.integer({ min: 0, max: 999_999_999 }), (seconds, nanos) => {
      assert.deepEqual(parseTimestamp(formatTimestamp({ seconds, nanos }) ?? ''), { seconds, nanos });
    }),
  );
});

const text = fc.string({ unit: 'binary' });
const extensionName = fc
  .stringMatching(/^[a-z0-9]{1,20}$/)
  .filter((name) => !/^(specversion|id|source|type|time|subject|dataschema|datacontenttype|data)$/.test(name));
const anyEvent = fc
  .record({
    id: text.filter((value) => value !== ''),
    source: text.filter((value) => value !== ''),
    type: text.filter((value) => value !== ''),
    extensions: fc.dictionary(extensionName, text),
    data: fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
  })
  .map((event): CloudEvent => ({ ...event, dataContentType: 'application/json' }));

function comparable(result: Decoded<CloudEvent>): object {
  const { data, extensions, ...event } = accepted(result);
  const sorted: [string, ExtensionValue][] = Object.entries(extensions).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...event,
    extensions: sorted,
    data: data === undefined ? undefined : JSON.parse(Buffer.from(data).toString()),
  };
}

test('every event is written and read back, in every encoding', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const same = comparable({ ok: true, value: event });
      assert.deepEqual(comparable(decodePublishRequest(encodePublishRequest(event))), same);
      assert.deepEqual(comparable(decodeMqtt(encodeMqtt(event))), same);
      assert.deepEqual(comparable(decodeJsonEvent(encodeJsonEvent(event))), same);
    }),
  );
});

test('every subscription is written and read back', () => {
  fc.assert(
    fc.property(text, text, text, (source, clusterName, dataType) => {
      const request = { source, clusterName, dataType };
      assert.deepEqual(accepted(decodeSubscriptionRequest(encodeSubscriptionRequest(request))), request);
    }),
  );
});
