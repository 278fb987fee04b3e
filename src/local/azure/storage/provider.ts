// Microsoft.Storage: its types in one table, and the requests about no account.
import { foldCase } from '../../../arm/resource-id.ts';
import type { Provider } from '../kernel/provider.ts';
import type { World } from '../kernel/world.ts';
import { accountType } from './account.ts';
import { accounts, nameForm, nameRule, skus } from './account-resources.ts';
import { apiVersions } from './api-versions.ts';
import { containers, service } from './container-resources.ts';
import { piecesOf } from './containers.ts';
import { openContents } from './contents.ts';
import { openDocuments } from './documents.ts';

/** Removes files that a crash left behind: written, and then named by no blob. */
async function sweepContents(world: World): Promise<void> {
  const documents = await openDocuments(world);
  const contents = await openContents(world, 'storage');
  if (contents.before.length === 0) return;
  const inUse = new Set<string>();
  let continuation: string | undefined;
  do {
    const page = await documents.query({ limit: 500, ...(continuation === undefined ? {} : { continuation }) });
    for (const { body } of page.documents)
      for (const piece of piecesOf(body)) if ('file' in piece) inUse.add(piece.file);
    ({ continuation } = page);
    if (world.stopping.aborted) return;
  } while (continuation !== undefined);
  const removed = await contents.sweep(inUse);
  if (removed > 0) world.logger.info({ removed }, 'contents that no blob has were removed');
}

export const storageProvider: Provider = {
  namespace: 'Microsoft.Storage',
  types: [
    accounts,
    service('storageAccounts/blobServices', { cors: { corsRules: [] }, deleteRetentionPolicy: { enabled: false } }),
    service('storageAccounts/fileServices', {
      protocolSettings: { smb: {} },
      shareDeleteRetentionPolicy: { enabled: true, days: 7 },
    }),
    containers,
    {
      type: 'storageAccounts/managementPolicies',
      apiVersions,
      scope: 'resourceGroup',
      location: 'none',
      provisioningState: false,
    },
  ],
  routes: [
    {
      method: 'POST',
      scope: 'subscription',
      path: 'checkNameAvailability',
      apiVersions,
      action: 'Microsoft.Storage/checknameavailability/read',
      async run({ world, body }) {
        const name = typeof body?.name === 'string' ? body.name : '';
        if (!nameForm.test(name))
          return {
            nameAvailable: false,
            reason: 'AccountNameInvalid',
            message: `${name.slice(0, 64)} is not a valid storage account name. ${nameRule}`,
          };
        const isTaken = (await world.resources.named(accountType, name)) !== undefined;
        return isTaken
          ? {
              nameAvailable: false,
              reason: 'AlreadyExists',
              message: `The storage account named ${name} is already taken.`,
            }
          : { nameAvailable: true };
      },
    },
    {
      method: 'GET',
      scope: 'subscription',
      path: 'skus',
      apiVersions,
      action: 'Microsoft.Storage/skus/read',
      run: async ({ world }) => ({
        value: skus.map((name) => ({
          resourceType: 'storageAccounts',
          name,
          tier: name.startsWith('Premium') ? 'Premium' : 'Standard',
          kind: 'StorageV2',
          locations: world.cloud.locations.map((location) => location.name),
          capabilities: [],
          restrictions: [],
        })),
      }),
    },
    {
      method: 'GET',
      scope: 'subscription',
      path: 'locations/{location}/usages',
      apiVersions,
      action: 'Microsoft.Storage/locations/usages/read',
      async run({ world, subscriptionId, parameters }) {
        const all = await world.resources.list({
          type: accountType,
          ...(subscriptionId === undefined ? {} : { subscriptionId }),
        });
        const here = all.filter(
          ({ resource }) => foldCase(resource.location ?? '') === foldCase(parameters.location ?? ''),
        );
        return {
          value: [
            {
              unit: 'Count',
              currentValue: here.length,
              limit: 250,
              name: { value: 'StorageAccounts', localizedValue: 'Storage Accounts' },
            },
          ],
        };
      },
    },
  ],
  async start(world) {
    await sweepContents(world);
  },
};
