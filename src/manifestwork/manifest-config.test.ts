import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configFor, strategyOf, wildcard } from './manifest-config.ts';
import { isOwnedByWork } from './ownership.ts';

const meta = {
  ordinal: 0,
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  name: 'web-1',
  namespace: 'prod',
};
const id = (namespace: string, name: string, group = 'apps') => ({ group, resource: 'deployments', namespace, name });

test('a star stands for any run of characters', () => {
  const yes = [
    ['*', ''],
    ['*', 'a'],
    ['a*', 'abc'],
    ['*c', 'abc'],
    ['a*c', 'abc'],
    ['a**c', 'ac'],
    ['a*b*c', 'aXbYc'],
    ['', ''],
  ];
  const no = [
    ['a', 'b'],
    ['a*', 'ba'],
    ['', 'a'],
    ['a*c', 'abd'],
    ['*a', 'b'],
    ['a', 'ab'],
  ];
  for (const [pattern = '', text = ''] of yes) assert.ok(wildcard(pattern, text), `${pattern} ${text}`);
  for (const [pattern = '', text = ''] of no) assert.ok(!wildcard(pattern, text), `${pattern} ${text}`);
  assert.ok(!wildcard('*a'.repeat(100), `${'a'.repeat(10_000)}b`));
});

test('of several configurations the first that says something decides, of the scrape type the last', () => {
  const config = configFor(meta, [
    { resourceIdentifier: id('prod', 'other'), updateStrategy: { type: 'ReadOnly' } },
    { resourceIdentifier: id('prod', 'web-1', ''), updateStrategy: { type: 'ReadOnly' } },
    { resourceIdentifier: id('prod', 'web-*'), feedbackRules: [], feedbackScrapeType: 'Poll' },
    {
      resourceIdentifier: id('*', '*'),
      updateStrategy: { type: 'CreateOnly' },
      feedbackRules: [{ type: 'WellKnownStatus' }],
    },
    { resourceIdentifier: id('*', '*-1'), updateStrategy: { type: 'Update' }, feedbackScrapeType: 'Watch' },
  ]);
  assert.deepEqual(config, {
    updateStrategy: { type: 'CreateOnly' },
    feedbackRules: [{ type: 'WellKnownStatus' }],
    feedbackScrapeType: 'Watch',
  });
  assert.equal(strategyOf(configFor(meta, [])).type, 'Update');
});

test('delete options decide whose the object is', () => {
  const rules = (name: string) => ({
    propagationPolicy: 'SelectivelyOrphan',
    selectivelyOrphans: { orphaningRules: [id('prod', name)] },
  });
  assert.ok(isOwnedByWork(meta, undefined));
  assert.ok(isOwnedByWork(meta, { propagationPolicy: 'Foreground' }));
  assert.ok(!isOwnedByWork(meta, { propagationPolicy: 'Orphan' }));
  assert.ok(!isOwnedByWork(meta, rules('web-1')));
  assert.ok(isOwnedByWork(meta, rules('web-*')));
  assert.ok(isOwnedByWork(meta, { propagationPolicy: 'SelectivelyOrphan' }));
});
