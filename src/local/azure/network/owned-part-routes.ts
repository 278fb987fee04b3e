// Reads of parts that are kept within their owners: `…/loadBalancers/lb/probes` and `…/probes/name`.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId } from '../../../arm/resource-id.ts';
import type { ProviderRoute, RouteRequest } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { networkVersions } from './api-versions.ts';
import { textOf } from './text.ts';

/** For members of the owner's properties that are spelt as the segments of the ids. */
export function ownedPartRoutes(type: string, members: readonly string[]): readonly ProviderRoute[] {
  return members.flatMap((member): readonly ProviderRoute[] => {
    const common = {
      method: 'GET',
      scope: 'resourceGroup',
      apiVersions: networkVersions,
      action: `Microsoft.Network/${type}/${member}/read`,
    } as const;
    return [
      {
        ...common,
        path: `${type}/{owner}/${member}`,
        run: async (request) => ({ value: await parts(request, type, member) }),
      },
      {
        ...common,
        path: `${type}/{owner}/${member}/{name}`,
        async run(request) {
          const name = request.parameters.name ?? '';
          const found = (await parts(request, type, member)).find(
            (part) => foldCase(textOf(part.name)) === foldCase(name),
          );
          if (found) return found;
          throw new ArmError(
            404,
            'NotFound',
            `Resource ${request.on?.text ?? ''}/providers/Microsoft.Network/${type}/${request.parameters.owner}/${member}/${name} not found.`,
          );
        },
      },
    ];
  });
}

async function parts(
  { world, on, parameters, apiVersion }: RouteRequest,
  type: string,
  member: string,
): Promise<readonly JsonObject[]> {
  const parsed = parseResourceId(`${on?.text ?? ''}/providers/Microsoft.Network/${type}/${parameters.owner ?? ''}`);
  if (!parsed.ok) throw new ArmError(400, 'InvalidResourceName', 'The name of the resource is not valid.');
  const { properties } = await world.resources.show(parsed.id, apiVersion);
  const list = properties?.[member];
  return Array.isArray(list) ? (list as readonly JsonObject[]) : [];
}
