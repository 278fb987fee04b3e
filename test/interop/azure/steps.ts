// What people do with az, in the order in which it is done: each step works on what the ones before have left.

export interface Step {
  /** Names the recording. */
  readonly name: string;
  /** Without `az`. */
  readonly args: readonly string[];
  /** A part of what az prints; `{…}` stands for values of the run. */
  readonly prints?: unknown;
  /** For commands that must fail: what az says. */
  readonly fails?: RegExp;
  /** Answers whose bodies grow with the cloud (lists of types and sizes) are compared by status and headers alone. */
  readonly statusOnly?: boolean;
}

export const group = 'az-group';
const at = ['--resource-group', group] as const;

export const template = {
  $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
  contentVersion: '1.0.0.0',
  parameters: { name: { type: 'string' } },
  resources: [
    {
      type: 'Microsoft.ManagedIdentity/userAssignedIdentities',
      apiVersion: '2023-01-31',
      name: "[parameters('name')]",
      location: '[resourceGroup().location]',
    },
  ],
  outputs: {
    id: {
      type: 'string',
      value: "[resourceId('Microsoft.ManagedIdentity/userAssignedIdentities', parameters('name'))]",
    },
  },
};

export const steps: readonly Step[] = [
  { name: 'account-show', args: ['account', 'show'], prints: { environmentName: 'AroLocal', state: 'Enabled' } },
  { name: 'account-list', args: ['account', 'list', '--refresh'], prints: [{ isDefault: true }] },
  { name: 'account-list-locations', args: ['account', 'list-locations'], statusOnly: true },
  { name: 'account-token', args: ['account', 'get-access-token', '--query', 'tokenType'], prints: 'Bearer' },
  {
    name: 'group-create',
    args: ['group', 'create', '--name', group, '--location', 'eastus', '--tags', 'team=aro'],
    prints: { name: group, properties: { provisioningState: 'Succeeded' }, tags: { team: 'aro' } },
  },
  { name: 'group-show', args: ['group', 'show', '--name', group], prints: { location: 'eastus' } },
  { name: 'group-exists', args: ['group', 'exists', '--name', group], prints: true },
  { name: 'group-exists-not', args: ['group', 'exists', '--name', 'another'], prints: false },
  {
    name: 'group-update',
    args: ['group', 'update', '--name', group, '--set', 'tags.stage=dev'],
    prints: { tags: { stage: 'dev' } },
  },
  { name: 'group-list', args: ['group', 'list', '--tag', 'team=aro'], prints: [{ name: group }] },
  { name: 'group-missing', args: ['group', 'show', '--name', 'another'], fails: /ResourceGroupNotFound/ },
  {
    name: 'tag-create',
    args: [
      'tag',
      'update',
      '--operation',
      'Merge',
      '--tags',
      'owner=me',
      '--resource-id',
      `/subscriptions/{subscription}/resourceGroups/${group}`,
    ],
    prints: { properties: { tags: { owner: 'me', team: 'aro' } } },
  },
  {
    name: 'lock-create',
    args: ['lock', 'create', '--name', 'keep', '--lock-type', 'CanNotDelete', ...at],
    prints: { level: 'CanNotDelete' },
  },
  { name: 'locked', args: ['group', 'delete', '--name', group, '--yes'], fails: /ScopeLocked/ },
  { name: 'lock-delete', args: ['lock', 'delete', '--name', 'keep', ...at] },
  {
    name: 'provider-register',
    args: ['provider', 'register', '--namespace', 'Microsoft.ManagedIdentity'],
    statusOnly: true,
  },
  {
    name: 'provider-show',
    args: ['provider', 'show', '--namespace', 'Microsoft.Resources', '--query', 'registrationState'],
    prints: 'Registered',
    statusOnly: true,
  },
  { name: 'feature-list', args: ['feature', 'list', '--namespace', 'Microsoft.Resources'], prints: [] },
  {
    name: 'identity-create',
    args: ['identity', 'create', '--name', 'worker', ...at],
    prints: { name: 'worker', type: 'Microsoft.ManagedIdentity/userAssignedIdentities' },
  },
  {
    name: 'identity-federated-create',
    args: [
      'identity',
      'federated-credential',
      'create',
      '--name',
      'cluster',
      '--identity-name',
      'worker',
      '--issuer',
      'https://oidc.azure.test/c',
      '--subject',
      'system:serviceaccount:ns:name',
      '--audiences',
      'api://AzureADTokenExchange',
      ...at,
    ],
    prints: { issuer: 'https://oidc.azure.test/c', subject: 'system:serviceaccount:ns:name' },
  },
  { name: 'identity-list', args: ['identity', 'list', ...at], prints: [{ name: 'worker' }] },
  {
    name: 'deployment-create',
    args: [
      'deployment',
      'group',
      'create',
      '--name',
      'first',
      '--template-file',
      '{template}',
      '--parameters',
      'name=from-template',
      ...at,
    ],
    prints: { properties: { provisioningState: 'Succeeded', mode: 'Incremental' } },
  },
  { name: 'deployment-list', args: ['deployment', 'group', 'list', ...at], prints: [{ name: 'first' }] },
  {
    name: 'deployment-operations',
    args: ['deployment', 'operation', 'group', 'list', '--name', 'first', ...at],
    prints: [{ properties: { provisioningState: 'Succeeded' } }],
  },
  {
    name: 'deployment-what-if',
    args: [
      'deployment',
      'group',
      'what-if',
      '--template-file',
      '{template}',
      '--parameters',
      'name=from-template',
      '--no-pretty-print',
      ...at,
    ],
    prints: { status: 'Succeeded' },
  },
  {
    name: 'deployment-broken',
    args: ['deployment', 'group', 'create', '--template-file', '{template}', ...at, '--no-prompt'],
    fails: /InvalidTemplate|name/,
  },
  { name: 'resource-list', args: ['resource', 'list', ...at], prints: [{ name: 'from-template' }, { name: 'worker' }] },
  {
    name: 'resource-show',
    args: [
      'resource',
      'show',
      '--name',
      'worker',
      '--resource-type',
      'Microsoft.ManagedIdentity/userAssignedIdentities',
      ...at,
    ],
    prints: { name: 'worker' },
  },
];
