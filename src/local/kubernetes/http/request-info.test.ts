import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RequestInfo, requestInfo } from './request-info.ts';

const read = (method: string, url: string): Partial<RequestInfo> => {
  const info = requestInfo(method, url);
  if (!info) return {};
  const { isResource, verb, group, version, namespace, resource, subresource, name } = info;
  return { isResource, verb, group, version, namespace, resource, subresource, name };
};

const resource = (verb: string, more: Partial<RequestInfo>): Partial<RequestInfo> => ({
  isResource: true,
  verb,
  group: '',
  version: 'v1',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  ...more,
});

test('what requests are about', () => {
  const cases: readonly [method: string, url: string, expected: Partial<RequestInfo>][] = [
    ['GET', '/api/v1/pods', resource('list', { resource: 'pods' })],
    ['GET', '/api/v1/pods?watch=1', resource('watch', { resource: 'pods' })],
    ['GET', '/api/v1/pods?watch=false', resource('list', { resource: 'pods' })],
    ['GET', '/api/v1/namespaces/x/pods/y?watch=1', resource('get', { namespace: 'x', resource: 'pods', name: 'y' })],
    ['GET', '/api/v1/watch/namespaces/x/pods', resource('watch', { namespace: 'x', resource: 'pods' })],
    ['GET', '/api/v1/namespaces', resource('list', { resource: 'namespaces' })],
    ['GET', '/api/v1/namespaces/x', resource('get', { namespace: 'x', resource: 'namespaces', name: 'x' })],
    [
      'PUT',
      '/api/v1/namespaces/x/status',
      resource('update', { namespace: 'x', resource: 'namespaces', name: 'x', subresource: 'status' }),
    ],
    ['DELETE', '/api/v1/namespaces/x/pods', resource('deletecollection', { namespace: 'x', resource: 'pods' })],
    [
      'POST',
      '/api/v1/namespaces/x/pods/y/eviction',
      resource('create', { namespace: 'x', resource: 'pods', name: 'y', subresource: 'eviction' }),
    ],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/x/deployments/y/scale',
      resource('patch', { group: 'apps', namespace: 'x', resource: 'deployments', name: 'y', subresource: 'scale' }),
    ],
    ['GET', '/apis/apps/v1/deployments/', resource('list', { group: 'apps', resource: 'deployments' })],
  ];
  for (const [method, url, expected] of cases) assert.deepEqual(read(method, url), expected, `${method} ${url}`);
});

test('other paths are about themselves', () => {
  for (const path of ['/', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/healthz', '/api//pods']) {
    const { isResource, verb } = read('GET', path);
    assert.deepEqual([isResource, verb], [false, 'get'], path);
  }
  assert.deepEqual(read('GET', '/api/v1/%zz'), {});
});
