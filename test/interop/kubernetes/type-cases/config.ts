// Configuration and accounts of the core group: config maps, secrets, namespaces, service accounts; metadata of any object.
import { accepted, long, named, object, refused, type TypeCases, updated } from './case.ts';

export const configCases: TypeCases = {
  accepted: [
    accepted('v1/configmaps', object(undefined)),
    accepted('v1/configmaps', object(undefined, { data: { a: 'b' }, binaryData: { c: 'ZA==' }, immutable: true })),
    accepted('v1/secrets', object(undefined)),
    accepted('v1/secrets', object(undefined, { stringData: { a: 'b' }, data: { c: 'ZA==' } })),
    accepted('v1/secrets', object(undefined, { type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } })),
    accepted('v1/namespaces', object(undefined)),
    accepted('v1/serviceaccounts', object(undefined)),
  ],
  refusedCreates: [
    refused('no name', 'v1/configmaps', { metadata: {} }),
    refused('upper case', 'v1/configmaps', named('A_b')),
    refused('too long', 'v1/configmaps', named(long(254))),
    refused('generateName', 'v1/configmaps', { metadata: { generateName: 'A_' } }),
    refused('label key', 'v1/configmaps', { metadata: { name: 'x', labels: { 'a b': 'c' } } }),
    refused('label prefix', 'v1/configmaps', { metadata: { name: 'x', labels: { '/b': 'c' } } }),
    refused('label slashes', 'v1/configmaps', { metadata: { name: 'x', labels: { 'a/b/c': 'c' } } }),
    refused('label key length', 'v1/configmaps', { metadata: { name: 'x', labels: { [long(64)]: 'c' } } }),
    refused('label value', 'v1/configmaps', { metadata: { name: 'x', labels: { a: 'c d' } } }),
    refused('label value length', 'v1/configmaps', { metadata: { name: 'x', labels: { a: long(64) } } }),
    refused('annotation key', 'v1/configmaps', { metadata: { name: 'x', annotations: { 'a b': 'c' } } }),
    refused('annotation size', 'v1/configmaps', { metadata: { name: 'x', annotations: { a: long(262145) } } }),
    refused('owner', 'v1/configmaps', {
      metadata: { name: 'x', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
    }),
    refused('two controllers', 'v1/configmaps', {
      metadata: {
        name: 'x',
        ownerReferences: ['a', 'b'].map((name) => ({
          apiVersion: 'v1',
          kind: 'Pod',
          name,
          uid: name,
          controller: true,
        })),
      },
    }),
    refused('finalizer', 'v1/configmaps', { metadata: { name: 'x', finalizers: ['a b'] } }),
    refused('key', 'v1/configmaps', object(undefined, { data: { 'a b': 'c' } })),
    refused('key dots', 'v1/configmaps', object(undefined, { data: { '..': 'c' } })),
    refused('key twice', 'v1/configmaps', object(undefined, { data: { a: 'c' }, binaryData: { a: 'ZA==' } })),
    refused('size', 'v1/configmaps', object(undefined, { data: { a: long(1048577) } })),
    refused('key', 'v1/secrets', object(undefined, { data: { 'a/b': 'ZA==' } })),
    refused('size', 'v1/secrets', object(undefined, { stringData: { a: long(1048577) } })),
    refused('basic auth', 'v1/secrets', object(undefined, { type: 'kubernetes.io/basic-auth' })),
    refused('ssh auth', 'v1/secrets', object(undefined, { type: 'kubernetes.io/ssh-auth' })),
    refused('tls', 'v1/secrets', object(undefined, { type: 'kubernetes.io/tls' })),
    refused('docker config missing', 'v1/secrets', object(undefined, { type: 'kubernetes.io/dockerconfigjson' })),
    refused(
      'docker config json',
      'v1/secrets',
      object(undefined, { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{' } }),
    ),
    refused('docker config', 'v1/secrets', object(undefined, { type: 'kubernetes.io/dockercfg' })),
    refused('service account token', 'v1/secrets', object(undefined, { type: 'kubernetes.io/service-account-token' })),
    refused('dots', 'v1/namespaces', named('a.b')),
    refused('underscore', 'v1/namespaces', named('a_b')),
    refused('name', 'v1/serviceaccounts', named('A')),
  ],
  refusedUpdates: [
    updated('immutable data', 'v1/configmaps', object(undefined, { immutable: true, data: { a: 'b' } }), {
      data: { a: 'c' },
    }),
    updated('immutable unset', 'v1/configmaps', object(undefined, { immutable: true }), { immutable: false }),
    updated('immutable data', 'v1/secrets', object(undefined, { immutable: true, stringData: { a: 'b' } }), {
      data: { a: 'Yw==' },
    }),
    updated('type', 'v1/secrets', object(undefined), { type: 'x' }),
    updated('uid', 'v1/configmaps', object(undefined), { metadata: { labels: { 'a b': 'c' } } }),
  ],
};
