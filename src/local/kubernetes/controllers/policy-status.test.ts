import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admissionPolicies } from './kinds.ts';
import { controlled } from './testing/controlled.ts';

const rule = (group: string, ...resources: string[]) => ({
  resourceRules: [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources }],
});

test('policies are told what in them does not fit their types, in the words of a real controller manager', async (t) => {
  const one = await controlled(t);
  const warnings = async (name: string, spec: object) => {
    await one.create(admissionPolicies, '', { metadata: { name }, spec });
    const { status } = one.read(admissionPolicies, '', name);
    assert.equal(status?.observedGeneration, 1);
    return status?.typeChecking?.expressionWarnings;
  };
  const found = await warnings('named', {
    matchConstraints: rule('apps', 'deployments', 'replicasets'),
    validations: [
      { expression: 'object.spec.strategy.type == "x"' },
      { expression: 'object.spec.replicas > 1', messageExpression: "'x' + string(object.nope)" },
      { expression: "object.spec.replicas > 'a'" },
      { expression: 'object.metadata.labels["a"] == "b"' },
      { expression: 'object.metadata.creationTimestamp > timestamp("2024-01-01T00:00:00Z")' },
      { expression: 'object.spec.template.spec.containers.all(c, c.imag == "x")' },
    ],
  });
  assert.deepEqual(
    found?.map(({ fieldRef }) => fieldRef),
    [
      'spec.validations[0].expression',
      'spec.validations[1].messageExpression',
      'spec.validations[2].expression',
      'spec.validations[5].expression',
    ],
  );
  assert.equal(
    found?.[0]?.warning,
    'apps/v1, Kind=ReplicaSet: ERROR: <input>:1:12: undefined field \'strategy\'\n | object.spec.strategy.type == "x"\n | ...........^\n',
  );
  const overload = (kind: string): string =>
    `apps/v1, Kind=${kind}: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > 'a'\n | .....................^\n`;
  assert.equal(found?.[2]?.warning, `${overload('Deployment')}\n${overload('ReplicaSet')}`);

  const everything = { matchConstraints: rule('*', '*'), validations: [{ expression: 'object.spc.replicas > 1' }] };
  assert.equal(await warnings('everything', everything), undefined);

  const byParams = await warnings('params', {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: rule('', 'configmaps', 'secrets'),
    variables: [{ name: 'v', expression: 'object.dat' }],
    validations: [
      { expression: 'variables.v == 1' },
      { expression: 'params.dta.x == "y"' },
      { expression: 'params.data.x == object.data.y' },
    ],
  });
  assert.deepEqual(byParams?.at(-1), {
    fieldRef: 'spec.validations[2].expression',
    warning:
      "/v1, Kind=Secret: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(string, bytes)'\n | params.data.x == object.data.y\n | ..............^\n",
  });
  assert.equal(byParams?.length, 2);
});
