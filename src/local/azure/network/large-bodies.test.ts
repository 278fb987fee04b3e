// Bodies with more in them than a resource can have: refused, or taken in time that grows with their length only.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { location, startNetwork } from './testing/network-world.ts';

const version = '2024-05-01';

function prefixes(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `10.${(at >> 13) & 255}.${(at >> 5) & 255}.${(at & 31) * 8}/29`);
}

test('large bodies', async (t) => {
  const { at, call } = await startNetwork(t);
  const put = (path: string, body: object) =>
    call(`${at}/${path}?api-version=${version}`, { method: 'PUT', body: { location, ...body } });
  const rule = (more: object) => ({
    properties: {
      securityRules: [
        {
          name: 'r',
          properties: {
            protocol: '*',
            access: 'Allow',
            direction: 'Inbound',
            priority: 100,
            sourcePortRange: '*',
            destinationPortRange: '*',
            sourceAddressPrefix: '*',
            destinationAddressPrefix: '*',
            ...more,
          },
        },
      ],
    },
  });
  const addressSpace = { addressPrefixes: ['10.0.0.0/8'] };
  const subnets = (count: number) =>
    prefixes(count).map((addressPrefix, index) => ({ name: `s${index}`, properties: { addressPrefix } }));
  const refused: readonly (readonly [what: string, path: string, body: object])[] = [
    [
      'prefixes of a network',
      'virtualNetworks/n',
      { properties: { addressSpace: { addressPrefixes: prefixes(60_000) } } },
    ],
    [
      'equal prefixes',
      'virtualNetworks/n',
      { properties: { addressSpace: { addressPrefixes: Array(60_000).fill('10.0.0.0/8') } } },
    ],
    ['subnets', 'virtualNetworks/n', { properties: { addressSpace, subnets: subnets(20_000) } }],
    [
      'prefixes of a subnet',
      'virtualNetworks/n',
      { properties: { addressSpace, subnets: [{ name: 's', properties: { addressPrefixes: prefixes(60_000) } }] } },
    ],
    ['sources of a rule', 'networkSecurityGroups/g', rule({ sourceAddressPrefixes: prefixes(4001) })],
    ['ports of a rule', 'networkSecurityGroups/g', rule({ destinationPortRanges: Array(60_000).fill('1-2') })],
    [
      'configurations of an interface',
      'networkInterfaces/i',
      { properties: { ipConfigurations: Array.from({ length: 20_000 }, (_, index) => ({ name: `c${index}` })) } },
    ],
  ];
  for (const [what, path, body] of refused) {
    await t.test(`too many ${what} are refused`, async () => {
      const answer = await put(path, body);
      assert.equal(answer.status, 400, answer.text.slice(0, 300));
      assert.match(answer.text, /is the most/);
    });
  }

  await t.test('as many prefixes as there may be are taken', async () => {
    const made = await put('virtualNetworks/wide', {
      properties: { addressSpace: { addressPrefixes: prefixes(500) }, subnets: subnets(80) },
    });
    assert.equal(made.status, 201, made.text.slice(0, 300));
    const sources = await put('networkSecurityGroups/wide', rule({ sourceAddressPrefixes: prefixes(4000) }));
    assert.equal(sources.status, 201, sources.text.slice(0, 300));
  });

  await t.test('members that nobody knows cost no more than their length', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`member${index}`, { id: index }]));
    for (const [path, properties] of [
      ['virtualNetworks/u', { addressSpace, ...unknown }],
      ['networkSecurityGroups/u', unknown],
      ['loadBalancers/u', unknown],
    ] as const) {
      const made = await put(path, { sku: { name: 'Standard' }, properties });
      assert.ok([201, 400].includes(made.status), `${path} ${made.status} ${made.text.slice(0, 300)}`);
    }
  });
});
