// Whatever is sent to the data planes of vaults, accounts, registries and endpoints, the answer is theirs and no failure of the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProxyAgent, request } from 'undici';
import { startAccount } from './testing/account.ts';

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'] as const;
const words = [
  ...[
    'secrets',
    'keys',
    'certificates',
    'deletedsecrets',
    'issuers',
    'contacts',
    'pending',
    'merge',
    'create',
    'sign',
    'restore',
    'x',
  ],
  ...[
    'v2',
    'blobs',
    'uploads',
    'manifests',
    'tags',
    'list',
    '_catalog',
    'oauth2',
    'token',
    'exchange',
    '$web',
    'things',
    '..',
    '%00',
    '%c3%28',
    '%2f',
  ],
];
const queries = [
  ...[
    'api-version=7.4',
    'restype=container',
    'comp=list',
    'comp=block',
    'comp=blocklist',
    'comp=lease',
    'comp=acl',
    'comp=batch',
  ],
  ...[
    'comp=tags',
    'comp=properties',
    'blockid=YQ%3D%3D',
    'maxresults=0',
    'maxresults=x',
    'marker=%00',
    '$skiptoken=!!',
    'n=-1',
    'mount=a&from=b',
    'digest=sha256:0',
    'sig=a&sv=2020-12-06&sr=b',
    'ss=b&sv=1',
  ],
];
const bodies = [
  '',
  '{',
  '{}',
  '[]',
  'null',
  '{"value":1}',
  '{"kty":"RSA","key_size":-1}',
  '<a/>',
  '<BlockList><Latest>x</Latest></BlockList>',
  '<Tags><TagSet>',
  '\u0000',
  'a=b&scope=x:y:z',
];
const headers = [
  ['x-ms-blob-type', 'BlockBlob'],
  ['x-ms-copy-source', 'https://example.com/'],
  ['x-ms-lease-action', 'acquire'],
  ['x-ms-lease-duration', '-9'],
  ['if-modified-since', 'never'],
  ['range', 'bytes=9-1'],
  ['content-md5', 'x'],
  ['content-range', '9-1'],
  ['content-type', 'multipart/mixed; boundary=x'],
  ['content-type', 'application/json'],
] as const;

test('no request is answered with a failure of the server', async (t) => {
  const cloud = await startAccount(t);
  const { azure, service, key, credential, call, subscription } = cloud;
  await service.createContainer('things');
  await service.getContainerClient('things').getBlockBlobClient('x').upload('x', 1);
  const group = `${subscription}/resourceGroups/g/providers`;
  const vault = {
    location: 'eastus',
    properties: {
      tenantId: azure.owner.tenantId,
      sku: { family: 'A', name: 'standard' },
      enableRbacAuthorization: false,
      accessPolicies: [
        {
          tenantId: azure.owner.tenantId,
          objectId: azure.owner.objectId,
          permissions: { secrets: ['all'], keys: ['all'], certificates: ['all'] },
        },
      ],
    },
  };
  assert.ok(
    (await call(`${group}/Microsoft.KeyVault/vaults/fuzzed?api-version=2024-11-01`, { method: 'PUT', body: vault }))
      .status < 300,
  );
  const registry = { location: 'eastus', sku: { name: 'Premium' }, properties: { adminUserEnabled: true } };
  assert.ok(
    (
      await call(`${group}/Microsoft.ContainerRegistry/registries/fuzzed?api-version=2023-07-01`, {
        method: 'PUT',
        body: registry,
      })
    ).status < 300,
  );
  const listed = await call(
    `${group}/Microsoft.ContainerRegistry/registries/fuzzed/listCredentials?api-version=2023-07-01`,
    { method: 'POST' },
  );
  const [password] = (listed.json?.passwords ?? []) as readonly { readonly value: string }[];
  const token = async (scope: string): Promise<string> => `Bearer ${(await credential.getToken(scope)).token}`;
  const planes = [
    { host: 'fuzzed.vault.azure.test', authorization: await token('https://vault.azure.net/.default') },
    { host: 'myaccount.blob.storage.azure.test', authorization: await token('https://storage.azure.com/.default') },
    { host: 'myaccount.blob.storage.azure.test', authorization: `SharedKey myaccount:${key.computeHMACSHA256('x')}` },
    {
      host: 'fuzzed.azurecr.azure.test',
      authorization: `Basic ${Buffer.from(`fuzzed:${password?.value}`).toString('base64')}`,
    },
    { host: 'myaccount.web.storage.azure.test', authorization: '' },
    { host: 'none.azurefd.azure.test', authorization: '' },
  ];
  const agent = new ProxyAgent({ uri: azure.cloud.proxy, requestTls: { ca: azure.ca } });
  t.after(() => agent.close());

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...planes),
      fc.constantFrom(...methods),
      fc.array(
        fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, fc.stringMatching(/^[a-zA-Z0-9:@._-]{1,40}$/)),
        { maxLength: 6 },
      ),
      fc.array(fc.constantFrom(...queries), { maxLength: 3 }),
      fc.array(fc.constantFrom(...headers), { maxLength: 3 }),
      fc.constantFrom(...bodies),
      fc.boolean(),
      async ({ host, authorization }, method, segments, query, extra, body, isKnown) => {
        const path = `/${segments.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
        const answer = await request(`https://${host}${path}`, {
          method,
          dispatcher: agent,
          headers: {
            ...Object.fromEntries(extra),
            ...(isKnown && authorization !== '' ? { authorization } : {}),
          },
          ...(method === 'GET' || method === 'HEAD' || body === '' ? {} : { body }),
        });
        await answer.body.dump();
        assert.ok(answer.statusCode < 500, `${method} https://${host}${path}: ${answer.statusCode}`);
      },
    ),
    { numRuns: 1500 },
  );
});
