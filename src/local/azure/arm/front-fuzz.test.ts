// Whatever is sent, the front answers with a client's error or a result, in ARM's form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startAzure, subscriptionId } from '../testing/start-azure.ts';
import { widgets } from '../testing/widgets.ts';

test('no path, query or body gives a server error', async (t) => {
  const { call } = await startAzure(t, { providers: [widgets] });
  await call(`/subscriptions/${subscriptionId}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  const word = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(
        'subscriptions',
        subscriptionId,
        'resourceGroups',
        'g',
        'providers',
        'Test.Widgets',
        'widgets',
        'w',
        'parts',
        'slowWidgets',
        'listKeys',
        'Microsoft.Resources',
        'tags',
        'default',
        'tagNames',
        'tagValues',
        'Microsoft.Authorization',
        'locks',
        'locations',
        'eastus',
        'operations',
        'operationresults',
        'register',
        'Microsoft.Features',
        'features',
        'resources',
        'tenants',
        'usages',
        '__proto__',
        'constructor',
      ),
    },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
    },
    { weight: 1, arbitrary: fc.constantFrom('%', '%2F', '%00', '..', '.', '%C4%B0', '*', '{scope}') },
  );
  const front = fc.constantFrom(
    '',
    '/subscriptions',
    `/subscriptions/${subscriptionId}`,
    `/subscriptions/${subscriptionId}/resourceGroups/g`,
    `/subscriptions/${subscriptionId}/resourceGroups/g/providers/Test.Widgets`,
    '/providers',
    '/tenants',
  );
  const version = fc.constantFrom('2024-01-01', '2021-04-01', '2016-09-01', 'x', '');
  const query = fc.constantFrom(
    '',
    '&$filter=name eq',
    "&$filter=((((tagName eq 'a'",
    '&$top=0',
    '&$skiptoken=a',
    '&$expand=x',
    '&a=1&a=2&%zz',
  );
  const body = fc.oneof(
    fc.constant(undefined),
    fc.json(),
    fc.string(),
    fc.constantFrom(
      '{"location":"eastus"}',
      '{"properties":{"tags":{"a":"b"}}}',
      '{"tags":null}',
      '{"location":"eastus","tags":{"a":1}}',
      '{"__proto__":{}}',
      '{"properties":{"level":"ReadOnly"}}',
    ),
  );
  const method = fc.constantFrom('GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE');
  await fc.assert(
    fc.asyncProperty(
      method,
      front,
      fc.array(word, { maxLength: 6 }),
      version,
      query,
      body,
      async (verb, start, words, asked, more, sent) => {
        const path = `${start || '/subscriptions'}${words.map((part) => `/${part}`).join('')}?api-version=${asked}${more}`;
        const answer = await call(path, { method: verb, ...(sent === undefined ? {} : { body: sent }) });
        assert.ok(answer.status < 500, `${verb} ${path} ${sent}: ${answer.status} ${answer.text}`);
        if (answer.status >= 400 && verb !== 'HEAD' && answer.text !== '')
          assert.ok(answer.json?.error, `${path}: ${answer.text}`);
      },
    ),
    { numRuns: 600 },
  );
});
