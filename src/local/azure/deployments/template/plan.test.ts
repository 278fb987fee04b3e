// Templates as infrastructure is written in practice, planned and evaluated without a cloud.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { createBudget } from '../expressions/budget.ts';
import { evaluateText } from '../expressions/evaluate.ts';
import { isObject } from '../expressions/values.ts';
import { template } from '../testing/templates.ts';
import { createContext, type Place } from './context.ts';
import { createLocate } from './dependencies.ts';
import { evaluateFetching } from './late.ts';
import { resolveParameters } from './parameters.ts';
import { type Plan, planResources } from './plan.ts';
import { finishedBody, rawBody } from './resource-body.ts';
import { fetchKey, runtimeFunctions } from './runtime-functions.ts';
import { readTemplate } from './template.ts';

const subscriptionId = '00000000-0000-0000-0000-000000000001';
const group = `/subscriptions/${subscriptionId}/resourceGroups/rg`;
const place: Place = {
  scope: { kind: 'resourceGroup', subscriptionId, resourceGroup: 'rg' },
  subscription: { id: `/subscriptions/${subscriptionId}`, subscriptionId, tenantId: 't', displayName: 's' },
  resourceGroup: { id: group, name: 'rg', type: 'Microsoft.Resources/resourceGroups', location: 'eastus' },
  tenant: { tenantId: 't' },
  deployer: { objectId: 'o', tenantId: 't', userPrincipalName: '' },
  environment: { suffixes: { keyvaultDns: '.vault.azure.test' } },
  typesOf: () => undefined,
  hasZones: () => true,
};

function planned(given: JsonObject, values: JsonObject = {}) {
  const read = readTemplate(given, place.scope);
  const deployment = { name: 'main', properties: { template: given } };
  const budget = createBudget();
  const resolved = resolveParameters({ template: read, given: values, place, deployment, now: 0, budget });
  const parameters = new Map(resolved.map(({ name, value }) => [foldCase(name), value]));
  const context = createContext({ template: read, place, parameters, deployment, budget });
  return { context, plan: planResources(context) };
}

/** The body of a resource when everything it refers to is what `answers` say. */
async function body(
  { context, plan }: ReturnType<typeof planned>,
  name: string,
  answer: (id: string) => Json = () => ({}),
): Promise<JsonObject> {
  const resource = plan.resources.find((one) => one.name === name);
  assert.ok(resource, name);
  const locate = createLocate(plan.resources);
  const fetched = new Map<string, Json>();
  const environment = context.environment(resource.loops, runtimeFunctions(plan.resources, locate, fetched));
  const raw = rawBody(resource, context, environment, plan.resources, locate);
  const made = await evaluateFetching(raw.members, environment, fetched, async (fetch) => {
    assert.equal(fetched.has(fetchKey(fetch)), false, 'nothing is read twice');
    return answer(fetch.id.text);
  });
  return finishedBody(made, raw);
}

function waitsOf(plan: Plan): { [name: string]: string[] } {
  return Object.fromEntries(
    plan.resources.map(({ name }, at) => [
      name,
      [...(plan.waits[at] ?? [])].map((target) => plan.resources[target]?.name ?? ''),
    ]),
  );
}

const region = template(
  [
    {
      type: 'Microsoft.Network/virtualNetworks',
      apiVersion: '2023-11-01',
      name: "[variables('vnet')]",
      location: "[parameters('location')]",
      properties: {
        addressSpace: { addressPrefixes: ["[parameters('cidr')]"] },
        copy: [
          {
            name: 'subnets',
            count: "[length(parameters('subnets'))]",
            input: {
              name: "[parameters('subnets')[copyIndex('subnets')].name]",
              properties: {
                addressPrefix: "[cidrSubnet(parameters('cidr'), 24, copyIndex('subnets'))]",
                privateEndpointNetworkPolicies:
                  "[if(contains(parameters('subnets')[copyIndex('subnets')], 'private'), 'Disabled', 'Enabled')]",
              },
            },
          },
        ],
      },
    },
    {
      type: 'Microsoft.ManagedIdentity/userAssignedIdentities',
      apiVersion: '2023-01-31',
      name: "[format('{0}-{1}', parameters('prefix'), parameters('identities')[copyIndex()])]",
      location: "[parameters('location')]",
      copy: { name: 'identities', count: "[length(parameters('identities'))]" },
    },
    {
      type: 'Microsoft.KeyVault/vaults',
      apiVersion: '2023-07-01',
      name: "[variables('vault')]",
      location: "[parameters('location')]",
      tags: "[union(variables('tags'), createObject('purpose', 'keys'))]",
      properties: {
        tenantId: '[subscription().tenantId]',
        sku: { family: 'A', name: 'standard' },
        enableRbacAuthorization: true,
      },
    },
    {
      type: 'Microsoft.Authorization/roleAssignments',
      apiVersion: '2022-04-01',
      scope: "[resourceId('Microsoft.KeyVault/vaults', variables('vault'))]",
      name: "[guid(resourceId('Microsoft.KeyVault/vaults', variables('vault')), 'backend', variables('role'))]",
      dependsOn: ["[resourceId('Microsoft.KeyVault/vaults', variables('vault'))]", 'identities'],
      properties: {
        roleDefinitionId: "[subscriptionResourceId('Microsoft.Authorization/roleDefinitions', variables('role'))]",
        principalId:
          "[reference(resourceId('Microsoft.ManagedIdentity/userAssignedIdentities', format('{0}-backend', parameters('prefix'))), '2023-01-31').principalId]",
        principalType: 'ServicePrincipal',
      },
    },
  ],
  {
    parameters: {
      location: { type: 'string', defaultValue: '[resourceGroup().location]' },
      prefix: { type: 'string', minLength: 2, maxLength: 8 },
      cidr: { type: 'string', defaultValue: '10.128.0.0/14' },
      identities: { type: 'array', defaultValue: ['frontend', 'backend'] },
      subnets: { type: 'array', defaultValue: [{ name: 'nodes' }, { name: 'links', private: true }] },
    },
    variables: {
      vnet: "[concat(parameters('prefix'), '-vnet')]",
      vault: "[take(toLower(concat(parameters('prefix'), 'kv', uniqueString(resourceGroup().id))), 24)]",
      role: '4633458b-17de-408a-b874-0445c86b69e6',
      tags: { region: "[parameters('location')]" },
    },
  },
);

test('a region of network, identities, vault and role assignments', async () => {
  const made = planned(region, { prefix: { value: 'aro' } });
  const [vnet, first, second, vault, assignment] = made.plan.resources;
  assert.equal(vnet?.id.text, `${group}/providers/Microsoft.Network/virtualNetworks/aro-vnet`);
  assert.deepEqual([first?.name, second?.name], ['aro-frontend', 'aro-backend']);
  assert.match(vault?.name ?? '', /^arokv[a-z2-7]{13}$/);
  assert.equal(
    assignment?.id.text,
    `${vault?.id.text}/providers/Microsoft.Authorization/roleAssignments/${assignment?.name}`,
  );
  assert.deepEqual(waitsOf(made.plan)[assignment?.name ?? '']?.sort(), ['aro-backend', 'aro-frontend', vault?.name]);
  const network = await body(made, 'aro-vnet');
  assert.deepEqual(isObject(network.properties) && network.properties.subnets, [
    { name: 'nodes', properties: { addressPrefix: '10.128.0.0/24', privateEndpointNetworkPolicies: 'Enabled' } },
    { name: 'links', properties: { addressPrefix: '10.128.1.0/24', privateEndpointNetworkPolicies: 'Disabled' } },
  ]);
  const assigned = await body(made, assignment?.name ?? '', (id) => {
    assert.equal(id, second?.id.text);
    return { principalId: 'p' };
  });
  assert.deepEqual(assigned, {
    properties: {
      roleDefinitionId: `/subscriptions/${subscriptionId}/providers/Microsoft.Authorization/roleDefinitions/4633458b-17de-408a-b874-0445c86b69e6`,
      principalId: 'p',
      principalType: 'ServicePrincipal',
    },
  });
});

test('resources on others by the names of both, and ids of other places', () => {
  const { plan, context } = planned(
    template([
      {
        type: 'Microsoft.Network/virtualNetworks/providers/roleAssignments',
        apiVersion: '1',
        name: 'net/Microsoft.Authorization/x',
      },
      { type: 'Microsoft.Network/privateDnsZones/A', apiVersion: '1', name: 'a.example/@' },
    ]),
  );
  assert.equal(
    plan.resources[0]?.id.text,
    `${group}/providers/Microsoft.Network/virtualNetworks/net/providers/Microsoft.Authorization/roleAssignments/x`,
  );
  const value = (text: string): Json => evaluateText(text, context.environment());
  assert.equal(
    value("[resourceId('other', 'Microsoft.A/b', 'c')]"),
    `/subscriptions/${subscriptionId}/resourceGroups/other/providers/Microsoft.A/b/c`,
  );
  assert.equal(
    value("[resourceId('00000000-0000-0000-0000-000000000009', 'other', 'Microsoft.A/b/d', 'c', 'e')]"),
    '/subscriptions/00000000-0000-0000-0000-000000000009/resourceGroups/other/providers/Microsoft.A/b/c/d/e',
  );
  assert.equal(value("[tenantResourceId('Microsoft.A/b', 'c')]"), '/providers/Microsoft.A/b/c');
  assert.equal(value("[extensionResourceId('/x', 'Microsoft.A/b', 'c')]"), '/x/providers/Microsoft.A/b/c');
  assert.equal(
    value("[managementGroupResourceId('mg', 'Microsoft.A/b', 'c')]"),
    '/providers/Microsoft.Management/managementGroups/mg/providers/Microsoft.A/b/c',
  );
});

test('a serial loop goes batch by batch', () => {
  const { plan } = planned(
    template([
      {
        type: 'Microsoft.A/b',
        apiVersion: '1',
        name: '[string(copyIndex())]',
        copy: { name: 'l', count: 5, mode: 'serial', batchSize: 2 },
      },
    ]),
  );
  assert.deepEqual(waitsOf(plan), { 0: [], 1: [], 2: ['0', '1'], 3: ['0', '1'], 4: ['2', '3'] });
});

test('a template at its limits is planned', () => {
  const resources = Array.from({ length: 8 }, (_, at) => ({
    type: 'Microsoft.A/b',
    apiVersion: '1',
    name: `[format('r${at}-{0}', copyIndex())]`,
    copy: { name: `l${at}`, count: 100 },
    dependsOn: at === 0 ? [] : [`[resourceId('Microsoft.A/b', format('r${at - 1}-{0}', copyIndex()))]`],
    properties: { text: "[concat(variables('v255'), reference(format('r0-{0}', copyIndex())).x)]" },
  }));
  const variables = Object.fromEntries(
    Array.from({ length: 256 }, (_, at) => [`v${at}`, at % 50 === 0 ? 'x' : `[variables('v${at - 1}')]`]),
  );
  assert.equal(planned(template(resources, { variables })).plan.resources.length, 800);
});
