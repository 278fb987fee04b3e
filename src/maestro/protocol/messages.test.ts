import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkBundleSize, parseBundle, parseBundleStatus } from './bundle-data.ts';
import type { CloudEvent, Extensions } from './cloud-event.ts';
import { bundleEventType, parseEventType } from './event-type.ts';
import { decodePublishRequest, encodePublishRequest } from './grpc-service.ts';
import { maxEventBytes, maxManifestBytes, maxPropertyBytes } from './limits.ts';
import { type ManifestBundleStatus, saysDeleted } from './manifest-bundle.ts';
import type { Message } from './messages.ts';
import { decodeMqtt, encodeMqtt } from './mqtt-codec.ts';
import { readMessage } from './read-message.ts';
import { accepted, type Decoded, ProtocolError } from './refusal.ts';
import { statusResyncBatches } from './resync.ts';
import { writeMessage } from './write-message.ts';

const envelope = {
  id: 'e1',
  source: 'maestro',
  time: '2026-01-16T06:00:17.771003Z',
  clusterName: 'cluster1',
  originalSource: '',
};
const row = { ...envelope, resourceId: 'r1', resourceVersion: 3 };
const bundle = {
  manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: null } }],
  manifestConfigs: [
    {
      resourceIdentifier: { group: '', resource: 'configmaps', namespace: 'default', name: 'a' },
      updateStrategy: { type: 'ServerSideApply', serverSideApply: { force: true } },
    },
  ],
};
const bundleStatus: ManifestBundleStatus = {
  conditions: [
    { type: 'Applied', status: 'True', lastTransitionTime: '2026-01-16T06:00:17Z', reason: 'R', message: 'm' },
  ],
  resourceStatus: [],
};

const messages: readonly Message[] = [
  { kind: 'spec', action: 'create_request', ...row, metadata: { name: 'r1', labels: { a: 'b' } }, bundle },
  { kind: 'spec', action: 'resync_response', ...row, bundle, logTracing: '{}' },
  { kind: 'spec', action: 'delete_request', ...row, deletionTimestamp: new Date('2026-01-16T06:00:18.5Z') },
  {
    kind: 'status',
    action: 'update_request',
    ...row,
    originalSource: 'maestro',
    sequenceId: '4198400',
    statusHash: 'ab',
    status: bundleStatus,
  },
  { kind: 'spec-resync', ...envelope, resourceVersions: [{ resourceID: 'r1', resourceVersion: 3 }] },
  { kind: 'status-resync', ...envelope, clusterName: '', statusHashes: [{ resourceID: 'r1', statusHash: 'ab' }] },
  { kind: 'heartbeat', id: 'h1' },
];

describe('messages', () => {
  for (const message of messages) {
    const name = 'action' in message ? `${message.kind} ${message.action}` : message.kind;
    test(`${name}: what was written is read, over gRPC and over MQTT`, () => {
      const event = writeMessage(message);
      assert.deepEqual(accepted(readMessage(accepted(decodePublishRequest(encodePublishRequest(event))))), message);
      if (message.kind === 'heartbeat') return;
      assert.deepEqual(accepted(readMessage(accepted(decodeMqtt(encodeMqtt(event))))), message);
    });
  }

  test('carry the cluster and the original source even when empty', () => {
    const [, , , , , resync] = messages;
    assert.ok(resync);
    const { userProperties } = encodeMqtt(writeMessage(resync)).properties;
    assert.equal(userProperties['ce-clustername'], '');
    assert.equal(userProperties['ce-originalsource'], '');
  });
});

const complete: Extensions = { resourceid: 'r1', resourceversion: '3', clustername: 'cluster1' };

function refusalOf(result: Decoded<unknown>): string {
  assert.equal(result.ok, false);
  return result.ok ? '' : result.refusal.code;
}

function spec(extensions: Extensions, data = '{"manifests":[]}'): CloudEvent {
  return { id: 'e', source: 's', type: bundleEventType('spec', 'update_request'), extensions, data: Buffer.from(data) };
}

describe('an event is refused', () => {
  for (const name of Object.keys(complete)) {
    test(`without its ${name}`, () => {
      const { [name]: _, ...rest } = complete;
      assert.equal(refusalOf(readMessage(spec(rest))), 'missing-attribute');
    });
  }

  for (const [name, value] of [
    ['resourceversion', '-1'],
    ['resourceversion', '2147483648'],
    ['resourceversion', 'x'],
    ['resourceversion', 1.5],
    ['resourceversion', true],
    ['resourceid', ''],
    ['resourceid', 7],
    ['clustername', ''],
    ['metadata', '{'],
    ['metadata', '[]'],
    ['metadata', '{"labels":{"a":1}}'],
    ['deletiontimestamp', 'yesterday'],
    ['deletiontimestamp', '2026-02-30T00:00:00Z'],
  ] as const) {
    test(`with ${name} ${JSON.stringify(value)}`, () => {
      assert.equal(refusalOf(readMessage(spec({ ...complete, [name]: value }))), 'invalid-attribute');
    });
  }

  for (const data of ['', '{', '[]', 'null', '{"manifests":"x"}', '{"manifests":[1]}', '{"manifestConfigs":[{}]}']) {
    test(`with the data ${data}`, () => assert.equal(refusalOf(readMessage(spec(complete, data))), 'invalid-data'));
  }

  test('with JSON nested without end', () => {
    const deep = `{"manifests":[{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`;
    assert.equal(refusalOf(readMessage(spec(complete, deep))), 'invalid-data');
  });

  for (const type of [
    'io.open-cluster-management.works.v1alpha1.manifestbundles.status.create_request',
    'io.open-cluster-management.works.v1alpha1.manifests.spec.create_request',
    'io.open-cluster-management.works.v1alpha1.manifestbundles.spec.explode',
    'io.open-cluster-management.works.v1alpha1.manifestbundles.scale.create_request',
    'spec.create_request',
    '....',
    'a'.repeat(10_000),
  ]) {
    test(`with the type ${type.slice(0, 90)}`, () => {
      assert.equal(refusalOf(readMessage({ ...spec(complete), type })), 'unknown-type');
    });
  }

  test('on MQTT that has more attributes than an event has, one of them twice, or none', () => {
    const properties = { 'ce-specversion': '1.0', 'ce-id': 'a', 'ce-source': 's', 'ce-type': 't' };
    const decode = (more: Record<string, string | string[]>): Decoded<CloudEvent> =>
      decodeMqtt({ payload: Buffer.alloc(0), properties: { userProperties: { ...properties, ...more } } });
    assert.equal(decode({}).ok, true);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`ce-a${index}`, '']));
    assert.equal(refusalOf(decode(many)), 'too-large');
    assert.equal(refusalOf(decode({ 'ce-clustername': ['a', 'b'] })), 'invalid-attribute');
    assert.equal(refusalOf(decode({ 'ce-UPPER': 'a' })), 'invalid-attribute');
    assert.equal(refusalOf(decode({ 'ce-time': 'now' })), 'invalid-attribute');
    assert.equal(refusalOf(decode({ 'ce-specversion': '0.3' })), 'unknown-encoding');
    assert.equal(refusalOf(decodeMqtt({ payload: Buffer.from('{}') })), 'unknown-encoding');
  });
});

describe('sizes', () => {
  test('metadata that an MQTT property cannot hold travel in structured mode', () => {
    const metadata = { name: 'r1', annotations: { large: 'x'.repeat(maxPropertyBytes) } };
    const message: Message = { kind: 'spec', action: 'create_request', ...row, metadata, bundle };
    const encoded = encodeMqtt(writeMessage(message));
    assert.equal(encoded.properties.contentType, 'application/cloudevents+json');
    assert.deepEqual(accepted(readMessage(accepted(decodeMqtt(encoded)))), message);
  });

  test('an event that no peer would take is not sent', () => {
    const event = { ...spec(complete), data: Buffer.alloc(maxEventBytes + 1) };
    for (const encode of [encodeMqtt, encodePublishRequest]) {
      assert.throws(
        () => encode(event),
        (error) => error instanceof ProtocolError && error.code === 'too-large',
      );
    }
    assert.equal(refusalOf(decodeMqtt({ payload: event.data })), 'too-large');
  });

  test('a bundle is refused that agents would drop', () => {
    const of = (length: number): Decoded<unknown> => checkBundleSize({ manifests: [{ a: 'x'.repeat(length) }] });
    assert.equal(of(maxManifestBytes - 8).ok, true);
    assert.equal(refusalOf(of(maxManifestBytes - 7)), 'too-large');
    assert.equal(refusalOf(checkBundleSize({ manifests: [] })), 'invalid-data');
  });

  test('hashes go into requests of a thousand; none is one request for everything', () => {
    const hashes = Array.from({ length: 2001 }, (_, index) => ({ resourceID: String(index), statusHash: '' }));
    assert.deepEqual(
      statusResyncBatches(hashes).map(({ length }) => length),
      [1000, 1000, 1],
    );
    assert.deepEqual(statusResyncBatches([]), [[]]);
  });
});

describe('data', () => {
  test('null where Go has an empty list is no list; nulls inside manifests stay', () => {
    const text =
      '{"manifests":[{"a":null}],"manifestConfigs":null,"executer":null,"deleteOption":{"selectivelyOrphans":null}}';
    assert.deepEqual(accepted(parseBundle(Buffer.from(text))), { manifests: [{ a: null }], deleteOption: {} });
    assert.deepEqual(accepted(parseBundle(Buffer.from('{"manifests":null}'))), { manifests: [] });
    assert.deepEqual(accepted(parseBundleStatus(Buffer.from('{"conditions":null}'))), {
      conditions: [],
      resourceStatus: [],
    });
  });

  test('members that are not known are kept', () => {
    const text = '{"manifests":[],"later":{"a":1}}';
    assert.deepEqual(accepted(parseBundle(Buffer.from(text))), { manifests: [], later: { a: 1 } });
  });

  test('a status says that the bundle is gone by one condition', () => {
    const [condition] = bundleStatus.conditions;
    assert.ok(condition);
    const says = (type: string, status: string): boolean =>
      saysDeleted({ ...bundleStatus, conditions: [condition, { ...condition, type, status }] });
    assert.equal(says('Deleted', 'True'), true);
    assert.equal(says('Deleted', 'False'), false);
    assert.equal(says('Applied', 'True'), false);
  });

  test('types are read from the right', () => {
    assert.deepEqual(accepted(parseEventType('a.b.c.v1.things.status.resync_response')), {
      dataType: 'a.b.c.v1.things',
      subResource: 'status',
      action: 'resync_response',
    });
  });
});
