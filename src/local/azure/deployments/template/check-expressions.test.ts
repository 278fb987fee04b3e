// What is wrong with expressions is told before anything is accepted, wherever they stand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAzure } from '../../testing/start-azure.ts';
import { inner, nested, template } from '../testing/templates.ts';

const version = 'api-version=2022-09-01';
const identity = (properties: object) => ({
  type: 'Microsoft.ManagedIdentity/userAssignedIdentities',
  apiVersion: '2023-01-31',
  name: 'i',
  location: 'eastus',
  ...properties,
});

test('a template with a mistake in an expression is refused, by PUT and by validate', async (t) => {
  const { call, subscription } = await startAzure(t);
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const at = `${group}/providers/Microsoft.Resources/deployments/d`;
  const output = (value: string) => ({ outputs: { o: { type: 'string', value } } });
  const cases: readonly [name: string, template: object, message: RegExp][] = [
    [
      'an unknown function in an output',
      template([], output('[nosuch()]')),
      /output 'o'.*function 'nosuch' is not valid/,
    ],
    ['an unclosed call in an output', template([], output("[concat('a']")), /output 'o'.*expected token/],
    ['too few arguments', template([], output("[replace('a')]")), /requires '3' argument/],
    ['a parameter that is not there', template([], output("[parameters('p')]")), /parameter 'p' is not found/],
    ['a variable that nobody uses', template([], { variables: { v: '[nosuch(1)]' } }), /variable 'v'.*'nosuch'/],
    [
      'reference in a variable',
      template([], { variables: { v: "[reference('a')]" } }),
      /not expected at this location/,
    ],
    ['a time outside of defaults', template([], output('[utcNow()]')), /not expected at this location/],
    ['a function deep in a resource', template([identity({ tags: { a: '[nosuch()]' } })]), /resource 'i'.*'nosuch'/],
    ['the name of a member', template([identity({ tags: { '[nosuch()]': 'a' } })]), /'nosuch' is not valid/],
    ['in one branch only', template([], output("[if(true(), 'a', nosuch())]")), /'nosuch' is not valid/],
    ['a nested template', template([nested('n', template([], output('[nosuch()]')))]), /'nosuch' is not valid/],
    [
      "a nested template's own parameters",
      template([nested('n', template([], output("[parameters('p')]")), {}, inner)], {
        parameters: { p: { type: 'string', defaultValue: 'x' } },
      }),
      /parameter 'p' is not found/,
    ],
  ];
  for (const [name, given, message] of cases) {
    const body = { properties: { mode: 'Incremental', template: given } };
    for (const [method, path] of [
      ['POST', `${at}/validate?${version}`],
      ['PUT', `${at}?${version}`],
    ] as const) {
      const { status, json } = await call(path, { method, body });
      const error = json?.error as { readonly code: string; readonly message: string };
      assert.deepEqual([status, error.code], [400, 'InvalidTemplate'], name);
      assert.match(error.message, message, name);
    }
  }
  assert.equal((await call(`${at}?${version}`)).status, 404);
});

test('what a nested template may name is what it is evaluated with', async (t) => {
  const { call, subscription } = await startAzure(t);
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const given = template(
    [
      nested('outer', template([], { outputs: { o: { type: 'string', value: "[variables('v')]" } } })),
      nested(
        'inner',
        template([], {
          parameters: { own: { type: 'string', defaultValue: '[utcNow()]' } },
          outputs: { o: { type: 'string', value: "[parameters('own')]" } },
        }),
        {},
        inner,
      ),
    ],
    {
      variables: { v: "[f.twice('a')]" },
      functions: [
        {
          namespace: 'f',
          members: {
            twice: {
              parameters: [{ name: 'x', type: 'string' }],
              output: { type: 'string', value: "[concat(parameters('x'), parameters('x'))]" },
            },
          },
        },
      ],
      outputs: {
        versions: { type: 'array', value: "[providers('microsoft.network', 'VirtualNetworks').apiVersions]" },
        namespace: { type: 'string', value: "[providers('Microsoft.Network').namespace]" },
      },
    },
  );
  const path = `${group}/providers/Microsoft.Resources/deployments/d?${version}`;
  const put = await call(path, { method: 'PUT', body: { properties: { mode: 'Incremental', template: given } } });
  assert.equal(put.status, 201, put.text);
  const outputsOf = async () => {
    const properties = (await call(path)).json?.properties as
      | {
          readonly provisioningState: string;
          readonly outputs?: { readonly versions: { readonly value: readonly string[] } };
        }
      | undefined;
    assert.notEqual(properties?.provisioningState, 'Failed');
    return properties?.outputs;
  };
  let outputs = await outputsOf();
  for (let turn = 0; outputs === undefined && turn < 2000; turn++) outputs = await outputsOf();
  assert.ok(outputs?.versions.value.every((one) => /^\d{4}-\d{2}-\d{2}/.test(one)));
});
