import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizer.ts';
import { isConflict } from './kube-error.ts';
import { resource } from './resource.ts';
import { failure, sendJson } from './testing/scripted-server.ts';
import { smallApi } from './testing/small-api.ts';

const things = resource('example.com/v1', 'Thing', 'things');
const path = '/apis/example.com/v1/namespaces/n/things/a';
const mine = 'aro.example.com/mine';

test('a finalizer is added once, beside those of others, onto the newest version', async (t) => {
  const api = await smallApi(t);
  const client = api.server.client();
  const old = api.put(path, { metadata: { finalizers: ['other/one'] } });
  api.put(path, { metadata: { finalizers: ['other/one', 'other/two'] } });
  const with1 = await addFinalizer(client, things, old, mine);
  assert.deepEqual(with1.metadata.finalizers, ['other/one', 'other/two', mine]);
  const requests = api.server.seen.length;
  assert.equal(await addFinalizer(client, things, with1, mine), with1);
  assert.equal(api.server.seen.length, requests, 'what is there already needs no request');
});

test('a finalizer is taken off, others stay; what is gone or was made anew is left alone', async (t) => {
  const api = await smallApi(t);
  const client = api.server.client();
  const object = api.put(path, { metadata: { finalizers: ['other/one', mine], deletionTimestamp: 'now' } });
  await removeFinalizer(client, things, object, mine);
  assert.deepEqual(api.get(path)?.metadata.finalizers, ['other/one']);
  api.remove(path);
  await removeFinalizer(client, things, object, mine);
  api.put(path, { metadata: { finalizers: [mine] } });
  await removeFinalizer(client, things, object, mine);
  assert.ok(hasFinalizer(api.get(path) ?? { metadata: {} }, mine), 'it belongs to another object of the same name');
});

test('nothing is made for an object that is being deleted', async (t) => {
  const api = await smallApi(t);
  const object = api.put(path, { metadata: { finalizers: ['other/one'], deletionTimestamp: 'now' } });
  await assert.rejects(addFinalizer(api.server.client(), things, object, mine), /being deleted/);
});

test('who always loses is told so', async (t) => {
  const api = await smallApi(t);
  const object = api.put(path);
  api.intercept = ({ method }, response) => {
    if (method === 'PATCH') sendJson(response, 409, failure(409, 'Conflict', 'changed'));
    return method === 'PATCH';
  };
  await assert.rejects(addFinalizer(api.server.client(), things, object, mine), isConflict);
});
