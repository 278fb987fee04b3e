// Microsoft.DBforPostgreSQL: flexible servers and what belongs to them.
import { ArmError } from '../../../arm/errors.ts';
import { textOf } from '../kept-members.ts';
import type { Provider, ProviderRoute } from '../kernel/provider.ts';
import { postgresVersions } from './api-versions.ts';
import { flexibleServers, serverName } from './flexible-servers.ts';
import { serverChildren } from './server-children.ts';

const nameAvailability = (path: string): ProviderRoute => ({
  method: 'POST',
  scope: 'subscription',
  path,
  apiVersions: postgresVersions,
  action: 'Microsoft.DBforPostgreSQL/checkNameAvailability/action',
  async run({ world, body }) {
    const name = textOf(body?.name);
    if (name === undefined)
      throw new ArmError(400, 'InvalidParameterValue', 'The name to check is required.', { target: 'name' });
    const type = 'Microsoft.DBforPostgreSQL/flexibleServers';
    if (!serverName.form.test(name))
      return { name, type, nameAvailable: false, reason: 'Invalid', message: serverName.rule };
    const taken = await world.resources.named(type, name);
    return taken
      ? {
          name,
          type,
          nameAvailable: false,
          reason: 'AlreadyExists',
          message: `Specified server name '${name}' is already used.`,
        }
      : { name, type, nameAvailable: true, message: '' };
  },
});

export const postgresqlProvider: Provider = {
  namespace: 'Microsoft.DBforPostgreSQL',
  types: [flexibleServers, ...serverChildren],
  routes: [nameAvailability('checkNameAvailability'), nameAvailability('locations/{location}/checkNameAvailability')],
};
