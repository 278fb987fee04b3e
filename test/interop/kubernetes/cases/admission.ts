// Admission by policies in CEL and by webhooks: what they look at, what they refuse and how.
import {
  after,
  as,
  type Case,
  del,
  get,
  type JsonMap,
  mergePatch,
  only,
  plain,
  post,
  put,
  type Step,
  until,
} from './case.ts';
import { configMap, deployment, role, roleBinding, secret } from './objects.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;
const validating = `${group}/validatingwebhookconfigurations`;

const inNamespace: JsonMap = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } } };
const rules = (resource: string, more: JsonMap = {}, apiGroup = ''): JsonMap => ({
  apiGroups: [apiGroup],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  resources: [resource],
  ...more,
});
const about = (...resourceRules: readonly JsonMap[]): JsonMap => ({ ...inNamespace, resourceRules });

const policy = (spec: JsonMap, name = '$NS'): JsonMap => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: about(rules('configmaps')), ...spec },
});
const binding = (spec: JsonMap = {}, name = '$NS', policyName = '$NS'): JsonMap => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'], ...spec },
});

/** Policies count when a server has taken them up: the one made last refuses a marker then. */
const inForce = (...made: readonly Step[]): readonly Step[] => [
  ...made,
  post(
    policies,
    policy(
      {
        matchConstraints: about(rules('secrets')),
        validations: [{ expression: "object.metadata.name != 'marker'" }],
      },
      'marker-$NS',
    ),
  ),
  post(bindings, binding({}, 'marker-$NS', 'marker-$NS')),
  until(422, post('secrets?dryRun=All', secret('marker'))),
];
const withPolicy = (spec: JsonMap, bound: JsonMap = {}): readonly Step[] =>
  inForce(post(policies, policy(spec)), post(bindings, binding(bound)));

const validations = (...expressions: readonly string[]): JsonMap => ({
  validations: expressions.map((expression) => ({ expression })),
});
const make = (name: string, more: JsonMap = {}, metadata: JsonMap = {}): Step =>
  post('configmaps', configMap(name, more, metadata));
const makes = (...names: readonly string[]): readonly Step[] => names.map((name) => make(name));
const named = (name: string, then: string): string => `object.metadata.name != '${name}' || ${then}`;

/** Each expression is judged for an object of its own, so that the answer tells what it gave. */
const judged = (name: string, ...expressions: readonly string[]): Case =>
  only(
    ['metadata.name'],
    after(
      name,
      withPolicy(validations(...expressions.map((expression, index) => named(`n${index}`, `(${expression})`)))),
      ...expressions.map((_, index) =>
        make(`n${index}`, { data: { cpu: '500m', address: '10.1.2.3', text: 'a1b22' } }, { labels: { app: 'web' } }),
      ),
    ),
  );

const refusedPolicy = (name: string, ...specs: readonly JsonMap[]): Case =>
  plain(name, ...specs.map((spec) => post(policies, policy(spec, 'refused-$NS'))));

const paramKind: JsonMap = { apiVersion: 'v1', kind: 'ConfigMap' };
const onSecrets: JsonMap = { matchConstraints: about(rules('secrets', { operations: ['CREATE'] })) };
const byParams = (spec: JsonMap, ref: JsonMap | undefined): readonly Step[] => [
  post('configmaps', configMap('p1', { data: { not: 's1' } }, { labels: { params: 'yes' } })),
  post('configmaps', configMap('p2', { data: { not: 's2' } }, { labels: { params: 'yes' } })),
  ...withPolicy(
    { paramKind, ...onSecrets, validations: [{ expression: 'object.metadata.name != params.data.not' }], ...spec },
    ref ? { paramRef: ref } : {},
  ),
];
const secrets = (...names: readonly string[]): readonly Step[] => names.map((name) => post('secrets', secret(name)));

const webhook = (more: JsonMap): JsonMap => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: '$NS' },
  webhooks: [
    {
      name: 'check.example.com',
      clientConfig: { service: { namespace: '$NS', name: 'none' } },
      rules: [rules('configmaps', { operations: ['CREATE'] })],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...inNamespace,
      ...more,
    },
  ],
});
const conditions = (...expressions: readonly string[]): JsonMap => ({
  matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
});
/** Webhooks count when the server calls one that cannot answer. */
const withWebhook = (more: JsonMap): readonly Step[] => [
  post(validating, webhook(more)),
  until(500, post('configmaps?dryRun=All', configMap('marker'))),
];

export const admissionCases: readonly Case[] = [
  after(
    'policy: messages and reasons',
    withPolicy({
      validations: [
        { expression: "!object.metadata.name.startsWith('bad')" },
        { expression: "object.metadata.name != 'ugly'", message: ' no ugly ' },
        { expression: "object.metadata.name != 'dyn'", messageExpression: "'name is ' + object.metadata.name" },
        { expression: "object.metadata.name != 'lines'", message: 'plain', messageExpression: "'a\\nb'" },
        { expression: "object.metadata.name != 'blank'", message: 'plain', messageExpression: "'  '" },
        {
          expression: "object.metadata.name != 'broken'",
          message: 'plain',
          messageExpression: 'string(object.data.none)',
        },
        { expression: "object.metadata.name != 'broken2'", messageExpression: 'string(object.data.none)' },
        { expression: "object.metadata.name != 'forbidden'", reason: 'Forbidden' },
        { expression: "object.metadata.name != 'large'", reason: 'RequestEntityTooLarge' },
        { expression: "object.metadata.name != 'invalid'", reason: 'Invalid' },
        { expression: "!object.metadata.name.startsWith('bad')", message: 'the second' },
      ],
    }),
    ...makes('good', 'bad', 'ugly', 'dyn', 'lines', 'blank', 'broken', 'broken2'),
    ...makes('forbidden', 'large', 'invalid'),
  ),
  after(
    'policy: expressions that cannot be evaluated',
    withPolicy(validations(named('a', 'object.data.none == 1'), named('b', 'object.metadata.labels["x"] == "y"'))),
    ...makes('a', 'b', 'c'),
  ),
  after(
    'policy: failures that are passed over',
    withPolicy({
      ...validations(named('a', "object.data.none == 'x'"), "object.metadata.name != 'b'"),
      failurePolicy: 'Ignore',
    }),
    ...makes('a', 'b'),
  ),
  after(
    'policy: updates and deletes',
    [
      post('configmaps', configMap('a', { data: { x: '1' } })),
      ...withPolicy(
        validations(
          "request.operation != 'UPDATE' || object.data.x == oldObject.data.x",
          "request.operation != 'DELETE' || (object == null && oldObject.data.x == '2')",
        ),
      ),
    ],
    put('configmaps/a', configMap('a', { data: { x: '2' } })),
    mergePatch('configmaps/a', { data: { y: '2' } }),
    del('configmaps/a'),
  ),
  after(
    'policy: variables',
    withPolicy({
      variables: [
        { name: 'n', expression: 'object.metadata.name' },
        { name: 'long', expression: 'variables.n.size() > 3' },
        { name: 'broken', expression: 'object.data.none' },
        { name: 'unused', expression: 'object.none.none' },
      ],
      validations: [
        { expression: '!variables.long', messageExpression: "'too long: ' + variables.n" },
        { expression: "variables.n != 'b' || variables.broken == 'x'" },
      ],
    }),
    ...makes('a', 'b', 'long'),
  ),
  after(
    'policy: warnings',
    withPolicy(validations("object.metadata.name != 'a'", 'object.metadata.name.size() > 1'), {
      validationActions: ['Warn', 'Audit'],
    }),
    ...makes('a', 'bb'),
  ),
  after(
    'policy: two bindings',
    inForce(
      post(policies, policy(validations("object.metadata.name == 'x'"))),
      post(bindings, binding({ validationActions: ['Warn'] }, 'a-$NS')),
      post(bindings, binding({ matchResources: { objectSelector: { matchLabels: { strict: 'yes' } } } }, 'b-$NS')),
    ),
    make('a'),
    make('b', {}, { labels: { strict: 'yes' } }),
    make('x', {}, { labels: { strict: 'yes' } }),
  ),
  after(
    'policy: match conditions',
    withPolicy({
      ...conditions("object.metadata.name.startsWith('a')", "object.metadata.name != 'ab' || object.data.none == 'x'"),
      ...validations('false'),
    }),
    ...makes('b', 'a', 'ab'),
  ),
  after(
    'policy: match conditions that fail are passed over',
    withPolicy({
      ...conditions('object.data.none'.concat(" == 'x'")),
      ...validations('false'),
      failurePolicy: 'Ignore',
    }),
    ...makes('a'),
  ),
  after(
    'policy: names and exceptions',
    withPolicy({
      matchConstraints: {
        ...inNamespace,
        resourceRules: [rules('configmaps', { resourceNames: ['a', 'b'] })],
        excludeResourceRules: [rules('configmaps', { resourceNames: ['b'], operations: ['*'] })],
      },
      ...validations('false'),
    }),
    ...makes('a', 'b', 'c'),
  ),
  after(
    'policy: a subresource',
    [
      post('deployments', deployment('web')),
      ...withPolicy({
        matchConstraints: about(rules('deployments/scale', {}, 'apps')),
        validations: [
          {
            expression: 'object.spec.replicas <= 3',
            messageExpression:
              "request.subResource + ' of ' + request.resource.resource + ' as ' + request.kind.kind + ' in ' + request.namespace",
          },
        ],
      }),
    ],
    mergePatch('deployments/web/scale', { spec: { replicas: 4 } }),
    mergePatch('deployments/web', { spec: { replicas: 5 } }),
  ),
  after(
    'policy: the request and the namespace',
    withPolicy({
      validations: [
        {
          expression: 'false',
          messageExpression:
            "request.operation + ' ' + request.name + ' ' + request.namespace + ' by ' + request.userInfo.username + ' of ' + request.userInfo.groups.join(',') + ' to ' + request.resource.resource + ' ' + request.kind.kind + ' ' + string(request.dryRun) + ' ' + namespaceObject.metadata.name + ' ' + namespaceObject.status.phase + ' ' + namespaceObject.metadata.labels['kubernetes.io/metadata.name']",
        },
      ],
    }),
    ...makes('a'),
    post('configmaps?dryRun=All', configMap('b')),
  ),
  after(
    'policy: the authorizer',
    [
      post('roles', role('joe', { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }] })),
      post('rolebindings', roleBinding('joe', 'joe')),
      ...withPolicy(
        validations(
          named('a', "authorizer.group('').resource('configmaps').namespace('$NS').check('delete').allowed()"),
          named('b', "authorizer.requestResource.check('create').allowed()"),
          named('c', "authorizer.requestResource.check('approve').reason() != ''"),
          named('d', "authorizer.path('/metrics').check('get').allowed()"),
          named('e', "authorizer.serviceAccount('$NS', 'x').group('').resource('pods').check('get').allowed()"),
          named('f', "authorizer.group('').resource('').check('get').allowed()"),
          named(
            'g',
            "authorizer.group('apps').resource('deployments').subresource('scale').name('x').check('get').errored()",
          ),
        ),
      ),
    ],
    ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => post('configmaps', configMap(name), as('joe'))),
  ),
  judged(
    'policy: functions of Kubernetes',
    "quantity(object.data.cpu).isLessThan(quantity('1'))",
    "quantity(object.data.cpu).add(quantity('600m')).compareTo(quantity('1')) < 0",
    "ip(object.data.address).family() == 4 && cidr('10.0.0.0/8').containsIP(object.data.address)",
    "cidr('10.2.0.0/16').containsIP(ip(object.data.address))",
    "url('https://example.com:80/a?b=c').getHost() == 'example.com:80'",
    "object.data.text.find('[0-9]+') == '1' && object.data.text.findAll('[0-9]+') == ['1', '22']",
    '[1, 2, 3].sum() == 6 && [3, 1].isSorted()',
    "sets.contains(['a', 'b'], ['a']) && sets.intersects(['a'], ['b'])",
    '!format.dns1123Label().validate(object.metadata.name).hasValue()',
    "semver('1.2.3').isGreaterThan(semver('1.10.0'))",
    "object.?data.?none.orValue('x') == 'x'",
    "object.metadata.labels.exists(k, k == 'app') && object.data.all(k, v, v.size() > 2)",
    "object.data.text.matches('^a[0-9]') && object.data.text.upperAscii() == 'A1B22'",
    "'%s-%d'.format([object.metadata.name, 3]) == 'n13-4'",
    "quantity('x').isInteger()",
    "ip('x').isLoopback()",
    "isSemver('1') || isURL('x y') || isQuantity('a') || isIP('a') || isCIDR('a')",
    'dyn(object.data.cpu) == 1',
    'has(object.data.cpu) && !has(object.data.none) && type(object.data.cpu) == string',
    "timestamp('2024-01-01T00:00:00Z') + duration('1h') > timestamp('2024-01-01T00:30:00Z')",
    'object.data.cpu.none == 1',
    'object.metadata.generation == 1',
  ),
  after(
    'policy: whole numbers',
    withPolicy({
      matchConstraints: about(rules('deployments', {}, 'apps')),
      ...validations('object.spec.replicas <= 5', 'object.spec.template.spec.containers.all(c, c.image.contains(":"))'),
    }),
    post(
      'deployments',
      deployment('web', {
        spec: {
          replicas: 6,
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'a:1' }] } },
        },
      }),
    ),
    post(
      'deployments',
      deployment('api', {
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'a' }] } },
        },
      }),
    ),
  ),
  after(
    'policy: an expression that costs too much',
    withPolicy(
      validations(
        '[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a + b + c + d + e + f > 0))))))',
      ),
    ),
    ...makes('a'),
  ),
  after(
    'policy: audit annotations',
    withPolicy({
      auditAnnotations: [
        { key: 'name', valueExpression: "'name ' + object.metadata.name" },
        { key: 'broken', valueExpression: "object.metadata.name == 'bad' ? string(object.data.none) : ''" },
      ],
    }),
    ...makes('a', 'bad'),
  ),
  after(
    'policy: parameters by name',
    byParams({}, { name: 'p1', namespace: '$NS', parameterNotFoundAction: 'Deny' }),
    ...secrets('s1', 's2'),
  ),
  after(
    'policy: parameters of the same namespace',
    byParams({}, { name: 'p1', parameterNotFoundAction: 'Deny' }),
    ...secrets('s1', 's2'),
  ),
  after(
    'policy: parameters by labels',
    byParams({}, { selector: { matchLabels: { params: 'yes' } }, parameterNotFoundAction: 'Deny' }),
    ...secrets('s1', 's2', 's3'),
  ),
  after(
    'policy: parameters that are not there',
    byParams({}, { name: 'none', parameterNotFoundAction: 'Deny' }),
    ...secrets('s1'),
  ),
  after(
    'policy: parameters that may be missing',
    byParams({}, { selector: { matchLabels: { params: 'no' } }, parameterNotFoundAction: 'Allow' }),
    ...secrets('s1'),
  ),
  after('policy: no parameters given', byParams({}, undefined), ...secrets('s1')),
  after(
    'policy: missing parameters that are passed over',
    byParams({ failurePolicy: 'Ignore' }, { name: 'none', parameterNotFoundAction: 'Deny' }),
    ...secrets('s1'),
  ),
  after(
    'policy: parameters of the cluster in a namespace',
    byParams(
      { paramKind: { apiVersion: 'v1', kind: 'Node' } },
      { name: 'n', namespace: '$NS', parameterNotFoundAction: 'Allow' },
    ),
    ...secrets('s1'),
  ),
  refusedPolicy(
    'policies that cannot be compiled',
    validations('object.'),
    validations('nobody == 1'),
    validations('object.metadata.name'),
    validations("'a'"),
    validations('request.object == null'),
    validations('params.data.x == "a"'),
    validations('namespaceObject.metadata.managedFields == null'),
    validations('authorizer.check("x").allowed()'),
    validations("'a' + 1 == 'a1'"),
    validations('object.all(x, true', 'true', 'oldObject.foo('),
    { validations: [{ expression: 'true', messageExpression: '1' }] },
    { validations: [{ expression: 'true', messageExpression: "authorizer.path('/x').check('get').reason()" }] },
    {
      variables: [
        { name: 'b', expression: 'variables.a' },
        { name: 'a', expression: '1' },
      ],
      ...validations('variables.b == 1'),
    },
    { variables: [{ name: 'a', expression: '1' }], ...validations("variables.a == 'x'", 'variables.none == 1') },
    { auditAnnotations: [{ key: 'a', valueExpression: '1' }] },
    { auditAnnotations: [{ key: 'a', valueExpression: 'object.x' }] },
    { variables: [{ name: 'n', expression: '1' }], ...conditions('variables.n == 1'), ...validations('true') },
    {
      validations: [
        { expression: 'true', reason: 'Unauthorized' },
        { expression: 'true', message: ' ' },
        { expression: 'true', message: 'a\nb' },
        { expression: 'true\n' },
        { expression: 'true &&\n true' },
        { expression: 'true', messageExpression: ' ' },
      ],
    },
    { ...conditions('1', 'nobody'), ...validations('true') },
  ),
  plain(
    'webhooks whose conditions cannot be compiled',
    post(validating, webhook({ matchConditions: [{ name: 'a', expression: 'variables.x == 1' }] })),
    post(validating, webhook({ matchConditions: [{ name: 'a', expression: "'x'" }] })),
    post(validating, webhook({ matchConditions: [{ name: 'a', expression: 'params.x == 1' }] })),
  ),
  after(
    'webhook: match conditions',
    withWebhook(
      conditions("object.metadata.name != 'free'", "object.metadata.name != 'broken' || object.data.none == 'x'"),
    ),
    ...makes('free', 'broken', 'called'),
  ),
  after(
    'webhook: conditions that fail are passed over',
    [post(validating, webhook({ ...conditions("object.data.none == 'x'"), failurePolicy: 'Ignore' }))],
    ...makes('a'),
  ),
  after(
    'webhook: failures that are passed over',
    [post(validating, webhook({ failurePolicy: 'Ignore' }))],
    ...makes('a'),
  ),
  after(
    'webhook: dry run with side effects',
    withWebhook({ sideEffects: 'None' }),
    post('configmaps?dryRun=All', configMap('a')),
    get('configmaps/a'),
  ),
];
