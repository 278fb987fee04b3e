// What exactly is said of requests that are wrong in ways people get them wrong, many of one kind after the other.
import {
  after,
  apply,
  type Case,
  del,
  get,
  type Json,
  type JsonMap,
  jsonPatch,
  mergePatch,
  plain,
  post,
  type Step,
  strategicPatch,
  watch,
} from './case.ts';
import {
  configMap,
  daemonSet,
  deployment,
  disruptionBudget,
  pod,
  replicaSet,
  role,
  roleBinding,
  serviceAccount,
  statefulSet,
} from './objects.ts';

const one = [post('configmaps', configMap('a', { data: { x: '1' } }))];
const web = [post('deployments', deployment('web'))];
const running = [post('serviceaccounts', serviceAccount('default')), post('pods', pod('a'))];
const yaml = { 'content-type': 'application/yaml' };

/** The same set-up for many small requests, each a case of its own. */
const each = (
  title: string,
  setup: readonly Step[],
  requests: Readonly<Record<string, Step | readonly Step[]>>,
): Case[] =>
  Object.entries(requests).map(([name, steps]) =>
    after(`${title}: ${name}`, setup, ...(Array.isArray(steps) ? (steps as readonly Step[]) : [steps as Step])),
  );

const eviction = (metadata: JsonMap): Json => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata });
const binding = (metadata: JsonMap, target: JsonMap): Json => ({ apiVersion: 'v1', kind: 'Binding', metadata, target });

const statuses = (path: string, counts: Readonly<Record<string, JsonMap>>): Record<string, Step> =>
  Object.fromEntries(Object.entries(counts).map(([name, status]) => [name, mergePatch(`${path}/status`, { status })]));

const podSpec = (spec: JsonMap): Json => ({ spec: { template: { spec } } });

const badLabel: Json = { metadata: { labels: { a: '-' } } };

export const refusalWordCases: readonly Case[] = [
  ...each('evicted', running, {
    'under no name': post('pods/a/eviction', eviction({})),
    'in another namespace': post('pods/a/eviction', eviction({ name: 'a', namespace: 'other' })),
  }),
  ...each('bound', running, {
    'under another name': post('pods/a/binding', binding({ name: 'b' }, { name: 'n1' })),
    'in another namespace': post('pods/a/binding', binding({ name: 'a', namespace: 'other' }, { name: 'n1' })),
    'to something else': post('pods/a/binding', binding({ name: 'a' }, { kind: 'Tree', name: 'n1' })),
    'to nothing else': post('bindings', binding({ name: 'a' }, { kind: 'Tree', name: '' })),
    'under no name': post('bindings', binding({}, { name: 'n1' })),
  }),
  ...each(
    'status of a deployment',
    web,
    statuses('deployments/web', {
      'with too many ready': { replicas: 2, readyReplicas: 3, availableReplicas: 1, updatedReplicas: 5 },
      'with more available than ready': { replicas: 5, readyReplicas: 1, availableReplicas: 3 },
      'below nothing': { observedGeneration: -1, unavailableReplicas: -1, collisionCount: -1 },
    }),
  ),
  ...each(
    'status of a replica set',
    [post('replicasets', replicaSet('web'))],
    statuses('replicasets/web', {
      'below nothing': { replicas: -1 },
      'with too many': { replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 3, availableReplicas: 4 },
    }),
  ),
  ...each(
    'status of a stateful set',
    [post('statefulsets', statefulSet('web'))],
    statuses('statefulsets/web', {
      'below nothing': { replicas: -1, collisionCount: -1 },
      'with too many': { replicas: 1, currentReplicas: 2, updatedReplicas: 3, readyReplicas: 4, availableReplicas: 5 },
    }),
  ),
  ...each('status of a daemon set', [post('daemonsets', daemonSet('web'))], {
    ...statuses('daemonsets/web', {
      'below nothing': { currentNumberScheduled: -1, numberReady: -2, numberUnavailable: -3, collisionCount: -1 },
    }),
    'with fewer collisions': [
      mergePatch('daemonsets/web/status', { status: { collisionCount: 4 } }),
      mergePatch('daemonsets/web/status', { status: { collisionCount: 2 } }),
    ],
  }),
  ...each(
    'bad label',
    [...web, ...running, post('roles', role('r')), post('poddisruptionbudgets', disruptionBudget('b'))],
    {
      'of a deployment': mergePatch('deployments/web', badLabel),
      'of a pod': mergePatch('pods/a', badLabel),
      'of a role': mergePatch('roles/r', badLabel),
      'of a disruption budget': mergePatch('poddisruptionbudgets/b', badLabel),
    },
  ),
  ...each('bad finalizer', [...web, ...running], {
    'of a deployment': mergePatch('deployments/web', { metadata: { finalizers: ['x'] } }),
    'of a pod': mergePatch('pods/a', { metadata: { finalizers: ['x'] } }),
  }),
  ...each('strategic patch', web, {
    'of a whole by a part': strategicPatch('deployments/web', { spec: { replicas: 1.5 } }),
    'of a number by a truth': strategicPatch('deployments/web', { spec: { replicas: true } }),
    'of a number by a map': strategicPatch('deployments/web', { spec: { replicas: {} } }),
    'of a struct by a text': strategicPatch('deployments/web', { spec: 'x' }),
    'of a struct by a number': strategicPatch('deployments/web', { spec: 5 }),
    'of a text by a number': strategicPatch('deployments/web', podSpec({ restartPolicy: 5 })),
    'of a text by a truth': strategicPatch('deployments/web', podSpec({ restartPolicy: true })),
    'of a truth by a number': strategicPatch('deployments/web', podSpec({ hostNetwork: 5 })),
    'of a map by a text': strategicPatch('deployments/web', podSpec({ nodeSelector: 'x' })),
    'of a map by a list': strategicPatch('deployments/web', podSpec({ nodeSelector: ['x'] })),
    'of a list by a text': strategicPatch('deployments/web', podSpec({ tolerations: 'x' })),
    'of a label by a number': strategicPatch('deployments/web', { metadata: { labels: { a: 1 } } }),
    'of a quantity': strategicPatch(
      'deployments/web',
      podSpec({ containers: [{ name: 'main', resources: { limits: { cpu: 'much' } } }] }),
    ),
  }),
  ...each('merge patch of a kind', one, {
    'to one it cannot be': mergePatch('configmaps/a', { kind: 'Pod' }),
    'to one that is none': mergePatch('configmaps/a', { kind: 'Tree' }),
    'of another group': mergePatch('configmaps/a', { apiVersion: 'apps/v1', kind: 'Deployment' }),
    'of no version': mergePatch('configmaps/a', { apiVersion: 'v2' }),
    'of a version with two slashes': mergePatch('configmaps/a', { apiVersion: 'a/b/c' }),
    'to none': mergePatch('configmaps/a', { kind: null }),
    'to a number': mergePatch('configmaps/a', { kind: 5 }),
  }),
  ...each('JSON patch', one, {
    'with an unknown part, warn': jsonPatch('configmaps/a', [{ op: 'add', path: '/data/x', value: '5', Op: 'add' }]),
    'that says something twice, warn': jsonPatch(
      'configmaps/a',
      '[{"op":"add","op":"add","path":"/data/x","value":"6","zed":{"a":1,"a":2}}]',
    ),
    'that says something twice, strict': jsonPatch(
      'configmaps/a?fieldValidation=Strict',
      '[{"op":"add","op":"add","path":"/data/x","value":"6","zed":{"a":1,"a":2}}]',
    ),
  }),
  ...each('YAML', [], {
    'with two values in a later line': post('configmaps', 'x: 1\na: b: c', yaml),
    'with a map that ends in a comma': post('configmaps', '{"a": 1,', yaml),
    'with a map that ends in a key': post('configmaps', '{"a"', yaml),
    'with a map that does not end': post('configmaps', 'a: {b', yaml),
    'with a list that does not end': post('configmaps', '[1,2', yaml),
    'with a text that does not end': post('configmaps', 'a: "b', yaml),
    'that begins with a tab': post('configmaps', '\ta: b', yaml),
    'that begins with a sign': post('configmaps', '@a', yaml),
    'that repeats itself and more, warn': post(
      'configmaps',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\ndata:\n  x: "1"\n  x: "2"\ncolour: red\n',
      yaml,
    ),
    'that repeats itself and more, strict': post(
      'configmaps?fieldValidation=Strict',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\ndata:\n  x: "1"\n  x: "2"\ncolour: red\n',
      yaml,
    ),
  }),
  ...each('apply', [], {
    'of null': apply('configmaps/a?fieldManager=mine', 'null'),
    'of a text': apply('configmaps/a?fieldManager=mine', '"x"'),
    'of a number': apply('configmaps/a?fieldManager=mine', '5'),
    'with a version that is none': apply(
      'configmaps/a?fieldManager=mine',
      configMap('a', {}, { resourceVersion: 'abc' }),
    ),
    'with the id of nothing': apply('configmaps/a?fieldManager=mine', configMap('a', {}, { uid: 'abc' })),
  }),
  ...each('impersonation', [], {
    'of an id alone': get('configmaps', { 'impersonate-uid': 'x' }),
    'of something extra alone': get('configmaps', { 'impersonate-extra-colour': 'red' }),
    'of all but a name': get('configmaps', {
      'impersonate-group': 'x',
      'impersonate-uid': 'u',
      'impersonate-extra-colour': 'red',
    }),
  }),
  ...each(
    'one name',
    [
      post(
        'roles',
        role('joe', {
          rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['list', 'watch'] }],
        }),
      ),
      post('rolebindings', roleBinding('joe', 'joe')),
      post('configmaps', configMap('a')),
    ],
    {
      'of those one may list': get('configmaps?fieldSelector=metadata.name%3Da', { 'impersonate-user': 'joe' }),
      'of those one may not list': get('configmaps?fieldSelector=metadata.name%3Db', { 'impersonate-user': 'joe' }),
      'that is not to be': get('configmaps?fieldSelector=metadata.name!%3Da', { 'impersonate-user': 'joe' }),
      'of those one may watch': watch('configmaps?watch=1&fieldSelector=metadata.name%3Da', 1, {
        'impersonate-user': 'joe',
      }),
    },
  ),
  ...each('options of a delete', one, {
    'with a policy that is a number': del('configmaps/a', { propagationPolicy: 5 }),
    'with conditions that are a text': del('configmaps/a', { preconditions: 'x' }),
    'with a condition that is a number': del('configmaps/a', { preconditions: { uid: 5 } }),
    'with a dry run that is a text': del('configmaps/a', { dryRun: 'All' }),
    'with time that is a part': del('configmaps/a', { gracePeriodSeconds: 1.5 }),
  }),
  ...each('query', one, {
    'with a semicolon': get('configmaps?labelSelector=a;b'),
    'with a bad escape and more': get('configmaps?limit=abc&labelSelector=%zz'),
    'of a page that is no token': get('configmaps?limit=1&continue=*'),
    'of a page that is half a token': get('configmaps?limit=1&continue=abcde'),
    'of a version that is none': get('configmaps/a?resourceVersion=-1'),
    'of a version that is there': get('configmaps/a?resourceVersion={{0.metadata.resourceVersion}}'),
  }),
  plain(
    'field manager with several that cannot be printed',
    post('configmaps?fieldManager=%C3%A4%01b%7F', configMap('a')),
  ),
];
