// Roles over vaults, storage, registries and Event Grid, whose data actions the data planes ask for.
import { below, builtIn, companions, type RoleDefinition } from './role.ts';

const vaults = 'Microsoft.KeyVault/vaults';
const vaultReading = [
  'Microsoft.Authorization/*/read',
  'Microsoft.Insights/alertRules/*',
  'Microsoft.Resources/deployments/*',
  'Microsoft.Resources/subscriptions/resourceGroups/read',
  'Microsoft.Support/*',
  'Microsoft.KeyVault/checkNameAvailability/read',
  'Microsoft.KeyVault/deletedVaults/read',
  'Microsoft.KeyVault/locations/*/read',
  'Microsoft.KeyVault/vaults/*/read',
  'Microsoft.KeyVault/operations/read',
];

const vaultRoles: readonly RoleDefinition[] = [
  builtIn('00482a5a-887f-4fb3-b363-3b7fe8e74483', 'Key Vault Administrator', 'Everything in a vault.', {
    actions: vaultReading,
    dataActions: [`${vaults}/*`],
  }),
  builtIn('f25e0fa2-a7c8-4377-a976-54943a77a395', 'Key Vault Contributor', 'Manages vaults, not what is in them.', {
    actions: ['Microsoft.KeyVault/*', ...companions.filter((action) => !action.startsWith('Microsoft.ResourceHealth'))],
    notActions: [
      'Microsoft.KeyVault/locations/deletedVaults/purge/action',
      'Microsoft.KeyVault/hsmPools/*',
      'Microsoft.KeyVault/managedHsms/*',
    ],
  }),
  builtIn('21090545-7ca7-4776-b22c-e363652d74d2', 'Key Vault Reader', 'Sees what is in a vault, without values.', {
    actions: vaultReading,
    dataActions: [`${vaults}/*/read`, `${vaults}/secrets/readMetadata/action`],
  }),
  builtIn('a4417e6f-fecd-4de8-b567-7b0420556985', 'Key Vault Certificates Officer', 'Certificates of a vault.', {
    actions: vaultReading,
    dataActions: below(vaults, ['certificatecas/*', 'certificates/*', 'certificatecontacts/write']),
  }),
  builtIn('db79e9a7-68ee-4b58-9aeb-b90e7c24fcba', 'Key Vault Certificate User', 'Reads certificates with their keys.', {
    dataActions: below(vaults, [
      'certificates/read',
      'secrets/getSecret/action',
      'secrets/readMetadata/action',
      'keys/read',
    ]),
  }),
  builtIn('14b46e9e-c2b7-41b4-b07b-48a6ebf60603', 'Key Vault Crypto Officer', 'Keys of a vault.', {
    actions: vaultReading,
    dataActions: below(vaults, ['keys/*', 'keyrotationpolicies/*']),
  }),
  builtIn('12338af0-0e69-4776-bea7-57ae8d297424', 'Key Vault Crypto User', 'Uses keys of a vault.', {
    dataActions: below(`${vaults}/keys`, [
      'read',
      'update/action',
      'backup/action',
      'encrypt/action',
      'decrypt/action',
      'wrap/action',
      'unwrap/action',
      'sign/action',
      'verify/action',
    ]),
  }),
  builtIn(
    'e147488a-f6f5-4113-8e2d-b22465e65bf6',
    'Key Vault Crypto Service Encryption User',
    'Reads keys, wraps and unwraps with them.',
    {
      actions: [
        'Microsoft.EventGrid/eventSubscriptions/write',
        'Microsoft.EventGrid/eventSubscriptions/read',
        'Microsoft.EventGrid/eventSubscriptions/delete',
      ],
      dataActions: below(`${vaults}/keys`, ['read', 'wrap/action', 'unwrap/action']),
    },
  ),
  builtIn('b86a8fe4-44ce-4948-aee5-eccb2c155cd7', 'Key Vault Secrets Officer', 'Secrets of a vault.', {
    actions: vaultReading,
    dataActions: [`${vaults}/secrets/*`],
  }),
  builtIn('4633458b-17de-408a-b874-0445c86b69e6', 'Key Vault Secrets User', 'Reads secrets of a vault.', {
    dataActions: below(`${vaults}/secrets`, ['getSecret/action', 'readMetadata/action']),
  }),
];

const blobs = 'Microsoft.Storage/storageAccounts/blobServices/containers';

const storageRoles: readonly RoleDefinition[] = [
  builtIn('17d1049b-9a84-46fb-8f53-869881c3d3ab', 'Storage Account Contributor', 'Manages storage accounts.', {
    actions: [
      'Microsoft.Storage/storageAccounts/*',
      'Microsoft.Insights/diagnosticSettings/*',
      'Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action',
      ...companions,
    ],
  }),
  builtIn(
    '81a9662b-bebf-436f-a333-f67b29880f12',
    'Storage Account Key Operator Service Role',
    'Lists and renews keys.',
    {
      actions: below('Microsoft.Storage/storageAccounts', ['listkeys/action', 'regeneratekey/action']),
    },
  ),
  builtIn('b7e6dc6d-f1e8-4753-8033-0f276bb0955b', 'Storage Blob Data Owner', 'Everything about blobs.', {
    actions: [`${blobs}/*`, 'Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action'],
    dataActions: [`${blobs}/blobs/*`],
  }),
  builtIn('ba92f5b4-2d11-453d-a403-e96b0029c9fe', 'Storage Blob Data Contributor', 'Reads, writes and deletes blobs.', {
    actions: [
      ...below(blobs, ['delete', 'read', 'write']),
      'Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action',
    ],
    dataActions: below(`${blobs}/blobs`, ['delete', 'read', 'write', 'move/action', 'add/action']),
  }),
  builtIn('2a2b9908-6ea1-4ae2-8e65-a410df84e7d1', 'Storage Blob Data Reader', 'Reads blobs.', {
    actions: [`${blobs}/read`, 'Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action'],
    dataActions: [`${blobs}/blobs/read`],
  }),
  builtIn(
    'db58b8e5-c6ad-4a2a-8342-4190687cbf4a',
    'Storage Blob Delegator',
    'Gets keys for signing in the name of a user.',
    {
      actions: ['Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action'],
    },
  ),
];

const registries = 'Microsoft.ContainerRegistry/registries';

const registryRoles: readonly RoleDefinition[] = [
  builtIn('7f951dda-4ed3-4680-a7ca-43fe172d538d', 'AcrPull', 'Pulls images.', { actions: [`${registries}/pull/read`] }),
  builtIn('8311e382-0749-4cb8-b61a-304f252e45ec', 'AcrPush', 'Pushes and pulls images.', {
    actions: below(registries, ['pull/read', 'push/write']),
  }),
  builtIn('c2f4ef07-c644-48eb-af81-4b1b4947fb11', 'AcrDelete', 'Deletes images.', {
    actions: [`${registries}/artifacts/delete`],
  }),
  builtIn('6cef56e8-d556-48e5-a04f-b8e64114680f', 'AcrImageSigner', 'Signs images.', {
    actions: [`${registries}/sign/write`],
    dataActions: [`${registries}/trustedCollections/write`],
  }),
];

const eventGridRoles: readonly RoleDefinition[] = [
  builtIn('1e241071-0855-49ea-94dc-649edcd759de', 'EventGrid Contributor', 'Manages Event Grid.', {
    actions: [
      'Microsoft.EventGrid/*',
      ...companions.filter((action) => !action.startsWith('Microsoft.ResourceHealth')),
    ],
  }),
  builtIn('d5a91429-5739-47e2-a06b-3470a27159e7', 'EventGrid Data Sender', 'Sends events.', {
    actions: [
      'Microsoft.Authorization/*/read',
      ...below('Microsoft.EventGrid', ['topics/read', 'domains/read', 'partnerNamespaces/read', 'namespaces/read']),
      'Microsoft.Resources/subscriptions/resourceGroups/read',
    ],
    dataActions: ['Microsoft.EventGrid/events/send/action'],
  }),
  builtIn('a12b0b94-b317-4dcd-84a8-502ce99884c6', 'EventGrid TopicSpaces Publisher', 'Publishes to topic spaces.', {
    actions: ['Microsoft.Authorization/*/read', 'Microsoft.Resources/subscriptions/resourceGroups/read'],
    dataActions: ['Microsoft.EventGrid/topicSpaces/publish/action'],
  }),
  builtIn('4b0f2fd7-60b4-4eca-896f-4435034f8bf5', 'EventGrid TopicSpaces Subscriber', 'Subscribes to topic spaces.', {
    actions: ['Microsoft.Authorization/*/read', 'Microsoft.Resources/subscriptions/resourceGroups/read'],
    dataActions: ['Microsoft.EventGrid/topicSpaces/subscribe/action'],
  }),
];

export const dataRoles: readonly RoleDefinition[] = [
  ...vaultRoles,
  ...storageRoles,
  ...registryRoles,
  ...eventGridRoles,
];
