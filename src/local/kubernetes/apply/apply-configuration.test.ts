// What recorded answers of a real server do not show; the bulk is in test/interop/kubernetes/apply.test.ts.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, KubeObject } from '../object.ts';
import { schemaOfKind } from '../schema/definitions.ts';
import type { Schema } from '../schema/schema.ts';
import { applyConfiguration } from './apply-configuration.ts';
import { leaf } from './fieldset.ts';
import type { TrackedType } from './ownership.ts';
import { keepTimesOfNoChange, trackUpdate } from './track-update.ts';

const configMaps: TrackedType = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  schema: schemaOfKind('', 'v1', 'ConfigMap') ?? {},
  custom: false,
  reset: leaf,
  subresource: '',
};

const text: Schema = { type: 'string' };
const widgetSchema = (options: Schema): Schema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, options } } },
});
const widgets = (version: string, options: Schema = { type: 'object', additionalProperties: text }): TrackedType => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  schema: widgetSchema(options),
  custom: true,
  reset: leaf,
  subresource: '',
});

const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;
const config = (type: TrackedType, content: JsonObject): JsonObject => ({
  apiVersion: type.apiVersion,
  kind: type.kind,
  metadata: { name: 'x' },
  ...content,
});

function apply(
  type: TrackedType,
  live: KubeObject | undefined,
  manager: string,
  content: JsonObject,
  second: number,
): KubeObject {
  return applyConfiguration({ type, live, config: config(type, content), manager, force: false, now: at(second) });
}

function update(
  type: TrackedType,
  live: KubeObject | undefined,
  manager: string,
  content: JsonObject,
  second: number,
): KubeObject {
  const object = { ...(live ?? config(type, {})), ...content } as KubeObject;
  return trackUpdate({ type, live, object, manager, now: at(second) });
}

describe('server-side apply', () => {
  test('changes neither the live object nor the configuration', () => {
    const live = apply(configMaps, undefined, 'a', { data: { a: '1', b: '2' } }, 1);
    const content = { data: { a: '1' } };
    const before = JSON.stringify([live, content]);
    apply(configMaps, live, 'a', content, 2);
    apply(configMaps, live, 'b', { data: { c: '3' } }, 2);
    assert.equal(JSON.stringify([live, content]), before);
  });

  test('a map emptied by its applier stays, empty, in a custom resource where another made it', () => {
    const type = widgets('v1');
    const made = update(type, undefined, 'bob', { spec: { options: { b: '1' } } }, 1);
    const applied = apply(type, made, 'alice', { spec: { options: { a: '1' } } }, 2);
    const less = update(type, applied, 'bob', { spec: { options: { a: '1' } } }, 3);
    const result = apply(type, less, 'alice', {}, 4);
    assert.deepEqual(result.spec, { options: {} });
    assert.deepEqual(
      result.metadata.managedFields?.map(({ manager, fieldsV1 }) => [manager, fieldsV1]),
      [['bob', { 'f:spec': { '.': {}, 'f:options': {} } }]],
    );
  });

  test('an applier that moves to another version keeps its entry, and loses what it drops', () => {
    const convert = (apiVersion: string) => (object: KubeObject) => ({ ...object, apiVersion });
    const versions: Record<string, TrackedType> = { v1: widgets('v1'), v2: widgets('v2') };
    const version = (apiVersion: string) => {
      const found = versions[apiVersion.split('/')[1] ?? ''];
      return found && { schema: found.schema, convert: convert(apiVersion) };
    };
    const live = apply(
      { ...widgets('v1'), version },
      undefined,
      'alice',
      { spec: { size: 1, options: { a: '1' } } },
      1,
    );
    const result = apply(
      { ...widgets('v2'), version },
      { ...live, apiVersion: 'example.com/v2' },
      'alice',
      { spec: { size: 1 } },
      2,
    );
    assert.deepEqual(result.spec, { size: 1 });
    assert.equal(result.apiVersion, 'example.com/v2');
    assert.deepEqual(
      result.metadata.managedFields?.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1]),
      [['alice', 'example.com/v2', { 'f:spec': { 'f:size': {} } }]],
    );
  });

  test('what was managed in a version that is gone is forgotten', () => {
    const live = update(widgets('v1'), undefined, 'bob', { spec: { size: 1 } }, 1);
    const result = apply(widgets('v2'), { ...live, apiVersion: 'example.com/v2' }, 'alice', { spec: { size: 2 } }, 2);
    assert.deepEqual(
      result.metadata.managedFields?.map(({ manager }) => manager),
      ['alice'],
    );
  });

  test('a part that has become one field is owned whole by those who owned something in it', () => {
    const live = apply(widgets('v1'), undefined, 'alice', { spec: { options: { a: '1', b: '2' } } }, 1);
    const atomic = widgets('v1', { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' });
    assert.throws(() => apply(atomic, live, 'bob', { spec: { options: { c: '3' } } }, 2), {
      message: 'Apply failed with 1 conflict: conflict with "alice": .spec.options',
    });
  });

  test('members named like those of every object are members', () => {
    const data = JSON.parse('{"__proto__":"1","constructor":"2","hasOwnProperty":"3"}') as JsonObject;
    const live = apply(configMaps, undefined, 'alice', { data }, 1);
    assert.deepEqual(Object.keys(live.data as JsonObject).sort(), ['__proto__', 'constructor', 'hasOwnProperty']);
    const result = apply(configMaps, live, 'alice', { data: JSON.parse('{"__proto__":"1"}') }, 2);
    assert.deepEqual(Object.keys(result.data as JsonObject), ['__proto__']);
  });
});

describe('tracking of updates', () => {
  test('a write that changes nothing is seen to be one', () => {
    const live = update(configMaps, undefined, 'alice', { data: { a: '1' } }, 1);
    const again = update(configMaps, live, 'alice', { data: { a: '1' } }, 2);
    assert.deepEqual(keepTimesOfNoChange(live, again), live);
  });

  test('a write that only touches times gets the live ones back', () => {
    const live = update(configMaps, undefined, 'alice', { data: { a: '1' } }, 1);
    const entries = live.metadata.managedFields?.map((entry) => ({ ...entry, time: at(9) })) ?? [];
    const touched = { ...live, metadata: { ...live.metadata, managedFields: entries } };
    assert.deepEqual(keepTimesOfNoChange(live, touched), live);
    const changed = { ...touched, data: { a: '2' } };
    assert.equal(keepTimesOfNoChange(live, changed), changed);
  });

  test('managedFields that make no sense do not count', () => {
    const live = update(configMaps, undefined, 'alice', { data: { a: '1' } }, 1);
    const odd = { ...live.metadata, managedFields: [{ operation: 'Frob' }] } as unknown as JsonObject;
    const result = update(configMaps, live, 'bob', { metadata: odd, data: { a: '2' } }, 2);
    assert.deepEqual(
      result.metadata.managedFields?.map(({ manager }) => manager),
      ['alice', 'bob'],
    );
  });

  test('items that cannot be told apart are left to validation', () => {
    const finalizers = [{ odd: 1 }] as unknown as string[];
    const live = update(configMaps, undefined, 'alice', { data: { a: '1' } }, 1);
    const result = update(
      configMaps,
      live,
      'bob',
      { metadata: { ...live.metadata, finalizers } as unknown as JsonObject },
      2,
    );
    assert.deepEqual(result.metadata.managedFields, live.metadata.managedFields);
    assert.throws(
      () =>
        apply(
          configMaps,
          { ...live, metadata: { ...live.metadata, finalizers } },
          'bob',
          { metadata: { name: 'x', finalizers: ['x.y/z'] } },
          2,
        ),
      {
        message: /^failed to create typed live object/,
      },
    );
  });

  test('a subresource cannot set managedFields', () => {
    const live = update(configMaps, undefined, 'alice', { data: { a: '1' } }, 1);
    const metadata = { ...live.metadata, managedFields: [{}] } as unknown as JsonObject;
    const result = update({ ...configMaps, subresource: 'status' }, live, 'bob', { metadata }, 2);
    assert.deepEqual(result.metadata.managedFields, live.metadata.managedFields);
  });
});
