// Bytes and texts that Go libraries wrote, those that Maestro's own parties are built on, against what is read and written here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parser } from 'mqtt-packet';
import type { CloudEvent } from './cloud-event.ts';
import { bundleEventType, heartbeatType, manifestBundles } from './event-type.ts';
import go from './fixtures/go-libraries.json' with { type: 'json' };
import {
  decodePublishRequest,
  decodeSubscriptionRequest,
  encodePublishRequest,
  encodeSubscriptionRequest,
} from './grpc-service.ts';
import { decodeJsonEvent, encodeJsonEvent } from './json-codec.ts';
import { decodeMqtt, encodeMqtt } from './mqtt-codec.ts';
import { decodeProtobufEvent, encodeProtobufEvent } from './protobuf-event.ts';
import { readMessage } from './read-message.ts';
import { accepted, type Decoded } from './refusal.ts';
import { resourceId } from './resource-id.ts';
import { canonicalJson, statusHash } from './status-hash.ts';

const bytes = (name: keyof typeof go.protobuf): Buffer => Buffer.from(go.protobuf[name], 'hex');
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');
const id = '55c61e54-a3f6-563d-9fec-b1fe297bdfdb';

const create: CloudEvent = {
  id: 'c3f0c8a5-5c3e-4b6e-8b0c-0f5a4f1f7c11',
  source: 'clusters-service',
  type: bundleEventType('spec', 'create_request'),
  time: '2026-01-16T06:00:17.771003Z',
  dataContentType: 'application/json',
  extensions: {
    resourceid: id,
    resourceversion: 0,
    clustername: 'cluster1',
    originalsource: '',
    metadata: '{"name":"nginx-work","labels":{"app":"nginx"}}',
  },
  data: Buffer.from(
    '{"manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"data":{"k":"v"}}]}',
  ),
};

const status: CloudEvent = {
  id: '8f39c2f1-3c0b-4ad3-9f3a-1b6b2f6c9e10',
  source: 'cluster1-work-agent',
  type: bundleEventType('status', 'update_request'),
  time: '2026-01-16T06:00:17.921082037Z',
  dataContentType: 'application/json',
  extensions: {
    resourceid: id,
    resourceversion: 1,
    clustername: 'cluster1',
    originalsource: 'maestro',
    logtracing: '{}',
    sequenceid: '2000808179721572352',
    statushash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  },
  data: Buffer.from('{"conditions":[],"resourceStatus":[]}'),
};

/** Without the difference between a Buffer and another Uint8Array. */
function plain(result: Decoded<CloudEvent>): object {
  const { data, ...event } = accepted(result);
  return data === undefined ? event : { ...event, data: Buffer.from(data).toString() };
}

function expected({ data, ...event }: CloudEvent): object {
  return data === undefined ? event : { ...event, data: Buffer.from(data).toString() };
}

test('a publish of a bundle has the bytes that Go writes', () => {
  assert.equal(hex(encodePublishRequest(create)), go.protobuf['spec create']);
  assert.deepEqual(plain(decodePublishRequest(bytes('spec create'))), expected(create));
});

test('a deletion, with its time as a protobuf timestamp, has the bytes that Go writes', () => {
  const event: CloudEvent = {
    id: '0d0e5f3b-7a57-47c0-a1ee-4c8b7a0f3f02',
    source: 'clusters-service',
    type: bundleEventType('spec', 'delete_request'),
    extensions: {
      resourceid: id,
      resourceversion: 2147483647,
      clustername: 'cluster1',
      originalsource: '',
      deletiontimestamp: new Date('2026-01-16T06:00:29.102Z'),
    },
  };
  assert.equal(hex(encodePublishRequest(event)), go.protobuf['spec delete']);
  const message = accepted(readMessage(accepted(decodePublishRequest(bytes('spec delete')))));
  assert.deepEqual(message.kind === 'spec' && message.deletionTimestamp, new Date('2026-01-16T06:00:29.102Z'));
});

test('a status has the bytes that Go writes, its time to the nanosecond', () => {
  assert.equal(hex(encodeProtobufEvent(status)), go.protobuf['status update']);
  assert.deepEqual(plain(decodeProtobufEvent(bytes('status update'))), expected(status));
});

test('a heartbeat has neither source nor data', () => {
  const event = { id: '6a0a1e53-2c6e-4e43-8a0a-64c4b4b14f0a', source: '', type: heartbeatType, extensions: {} };
  assert.equal(hex(encodeProtobufEvent(event)), go.protobuf.heartbeat);
  assert.deepEqual(accepted(decodeProtobufEvent(bytes('heartbeat'))), event);
});

test('every kind of attribute value is read; a name without the prefix is not an attribute', () => {
  const event = accepted(decodeProtobufEvent(bytes('every kind of value')));
  assert.deepEqual(
    { ...event.extensions, c: [...(event.extensions.c as Uint8Array)] },
    { a: true, b: -1, c: [1, 255], d: 'urn:a', e: '/a', f: '1969-12-31T23:59:59.999999999Z', g: 'é' },
  );
  assert.equal(event.subject, 'sub');
  assert.equal(event.dataSchema, 'urn:s');
});

test('data are read from each field that may hold them', () => {
  for (const name of ['data as text', 'data as Any'] as const) {
    const { data = [] } = accepted(decodeProtobufEvent(bytes(name)));
    assert.equal(Buffer.from(data).toString(), '{}');
  }
});

test('an event in structured mode is the one inside', () => {
  const event = plain(decodeProtobufEvent(bytes('structured mode')));
  assert.deepEqual(event, {
    id: 'inner',
    source: 's',
    type: 't',
    extensions: { clustername: 'c', resourceversion: 3 },
    data: '{"a":1}',
  });
});

test('subscriptions have the bytes that Go writes', () => {
  const source = { source: 'clusters-service', clusterName: '', dataType: manifestBundles };
  const agent = { source: '', clusterName: 'cluster1', dataType: manifestBundles };
  assert.equal(hex(encodeSubscriptionRequest(source)), go.protobuf['subscription of a source']);
  assert.equal(hex(encodeSubscriptionRequest(agent)), go.protobuf['subscription of an agent']);
  assert.deepEqual(accepted(decodeSubscriptionRequest(bytes('subscription of a source'))), source);
  assert.deepEqual(accepted(decodeSubscriptionRequest(bytes('subscription of an agent'))), agent);
});

test('an MQTT packet that Go wrote is the event, and the event has the same properties here', async () => {
  const packets = parser({ protocolVersion: 5 });
  const seen: unknown[] = [];
  packets.on('packet', (packet) => seen.push(packet));
  packets.parse(Buffer.from(go.mqttPublish, 'hex'));
  const packet = seen[0] as { payload: Buffer; properties: { contentType: string; userProperties: object } };
  const event = accepted(
    decodeMqtt({
      payload: packet.payload,
      properties: { ...packet.properties, userProperties: { ...packet.properties.userProperties } },
    } as Parameters<typeof decodeMqtt>[0]),
  );
  const message = accepted(readMessage(event));
  assert.equal(message.kind, 'status');
  assert.equal(message.kind === 'status' && message.resourceVersion, 1);

  const written = encodeMqtt({
    ...event,
    extensions: { ...event.extensions, resourceversion: 1, deletiontimestamp: new Date('2026-01-16T06:00:18.5Z') },
  });
  for (const [name, value] of Object.entries(go.binaryValues)) {
    assert.equal(written.properties.userProperties[name], value);
  }
  assert.deepEqual(written.properties, {
    contentType: packet.properties.contentType,
    userProperties: { ...packet.properties.userProperties },
  });
  assert.deepEqual(written.payload, packet.payload);
});

test('the JSON form is that of the CloudEvents library in Go', () => {
  const event = accepted(decodeJsonEvent(Buffer.from(go.structured)));
  assert.equal(event.extensions.resourceversion, 1);
  assert.deepEqual(JSON.parse(encodeJsonEvent(event).toString()), JSON.parse(go.structured));
});

test('canonical JSON is what Go writes of a map, and so is its hash', () => {
  for (const { json } of go.canonical) assert.equal(canonicalJson(JSON.parse(json)), json);
  const [first, , empty] = go.canonical;
  const { conditions, resourceStatus } = JSON.parse(first?.json ?? '');
  assert.equal(statusHash({ conditions, resourceStatus: resourceStatus.manifests }), first?.sha256);
  assert.equal(statusHash({ conditions: [], resourceStatus: [] }), empty?.sha256);
});

test('the id of a bundle is that of the source client in Go', () => {
  const [one, two] = [
    'mw-client-example-manifestworks.work.open-cluster-management.io-cluster1-nginx-work',
    'clusters-service-manifestworks.work.open-cluster-management.io-mgmt-1-é',
  ] as const;
  assert.equal(resourceId('mw-client-example', 'cluster1', 'nginx-work'), go.resourceIds[one]);
  assert.equal(resourceId('clusters-service', 'mgmt-1', 'é'), go.resourceIds[two]);
});
