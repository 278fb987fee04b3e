// Access by ownership alone: the principals that are named own the cloud, nobody else may do anything. For a cloud without
// Microsoft.Authorization.
import { ArmError } from '../../arm/errors.ts';
import { foldCase } from '../../arm/resource-id.ts';
import type { Access, Permission } from './kernel/access.ts';

const everything: Permission = { actions: ['*'], notActions: [], dataActions: ['*'], notDataActions: [] };

export function ownerAccess(owners: readonly string[]): Access {
  const owning = new Set(owners.map(foldCase));
  const owns = (caller: { readonly objectId: string; readonly groups: readonly string[] }): boolean =>
    owning.has(foldCase(caller.objectId)) || caller.groups.some((group) => owning.has(foldCase(group)));
  return {
    check: async (caller) => ({ allowed: owns(caller) }),
    async demand(caller, action, scope) {
      if (owns(caller)) return;
      throw new ArmError(
        403,
        'AuthorizationFailed',
        `The client '${caller.name ?? caller.appId ?? caller.objectId}' with object id '${caller.objectId}' does not have authorization to ` +
          `perform action '${action}' over scope '${scope}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
      );
    },
    permissions: async (caller) => (owns(caller) ? [everything] : []),
  };
}
