// A namespace for tests of the front: types of every kind, with nothing special about them.
import { ArmError } from '../../../arm/errors.ts';
import type { Provider } from '../kernel/provider.ts';

const apiVersions = ['2024-01-01', '2023-01-01-preview'];

export const widgets: Provider = {
  namespace: 'Test.Widgets',
  types: [
    { type: 'widgets', apiVersions, scope: 'resourceGroup', location: 'required', patch: 'merge' },
    {
      type: 'slowWidgets',
      apiVersions,
      scope: 'resourceGroup',
      location: 'required',
      patch: 'tags',
      asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
      actions: {
        listkeys: { run: async ({ id }) => ({ keys: [{ name: id.name, value: 'k' }] }) },
        restart: { asynchronous: true, run: async () => undefined },
        explode: {
          async run() {
            throw new ArmError(409, 'Exploded', 'It exploded.');
          },
        },
      },
    },
    { type: 'widgets/parts', apiVersions, scope: 'resourceGroup', location: 'none' },
  ],
  routes: [
    {
      method: 'GET',
      scope: 'subscription',
      path: 'locations/{location}/usages',
      apiVersions,
      action: 'Test.Widgets/locations/usages/read',
      run: async ({ parameters, subscriptionId }) => ({
        value: [{ location: parameters.location ?? '', subscription: subscriptionId ?? '' }],
      }),
    },
    {
      method: 'POST',
      scope: 'subscription',
      path: 'checkNameAvailability',
      apiVersions,
      action: 'Test.Widgets/checkNameAvailability/read',
      run: async ({ body }) => ({ nameAvailable: body?.name !== 'taken' }),
    },
  ],
};
