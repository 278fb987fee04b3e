// Who may do what in a vault: tokens, access policies, roles.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { dataPlaneLabels } from '../cloud.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { World } from '../kernel/world.ts';
import type { Need, Vault } from './call.ts';
import { forbidden, VaultError } from './errors.ts';

const appId = 'cfa8b339-82a2-471a-a3c9-0fc0be7a4093';

/** Throws 401 with the challenge by which clients learn where tokens come from and for whom. */
export async function authenticate(world: World, authorization: string | undefined): Promise<CallerIdentity> {
  const { cloud, directory } = world;
  const resource = `https://${dataPlaneLabels.vault}.${cloud.suffix}`;
  try {
    return await directory.authenticate(authorization, [resource, 'https://vault.azure.net', appId]);
  } catch (error) {
    if (!(error instanceof ArmError) || error.status !== 401) throw error;
    const message =
      authorization === undefined
        ? 'AKV10000: Request is missing a Bearer or PoP token.'
        : `AKV10032: Invalid token. ${error.message}`;
    throw new VaultError(401, 'Unauthorized', message, undefined, {
      'www-authenticate': `Bearer authorization="${cloud.origin}/${directory.tenantId}", resource="${resource}"`,
    });
  }
}

/** Throws 403 unless the vault's policies or the caller's roles allow it. `below` is the object asked for, such as `secrets/mine`. */
export async function authorize(
  world: World,
  vault: Vault,
  caller: CallerIdentity,
  need: Need,
  below: string,
): Promise<void> {
  const { properties } = vault;
  const who = `Caller: appid=${caller.appId ?? ''};oid=${caller.objectId};iss=${world.cloud.origin}/${caller.tenantId}/`;
  if (properties.enableRbacAuthorization === true) {
    const action = `Microsoft.KeyVault/vaults/${need.action}`;
    const scope = below === '' ? vault.id : `${vault.id}/${below}`;
    if ((await world.access.check(caller, action, scope, true)).allowed) return;
    throw forbidden(
      `Caller is not authorized to perform action on resource.\r\nIf role assignments, deny assignments or role definitions were ` +
        `changed recently, please observe propagation time.\r\n${who}\r\nAction: '${action}'\r\nResource: '${foldCase(scope)}'\r\n` +
        `Assignment: (not found)\r\nDecisionReason: 'DeniedWithNoValidRBAC' \r\nVault: ${vault.name}`,
      'ForbiddenByRbac',
    );
  }
  const [kind, permission] = need.permission;
  if (policyAllows(properties.accessPolicies, caller, kind, permission)) return;
  throw forbidden(
    `The user, group or application '${who}' does not have ${kind} ${permission} permission on key vault '${vault.name}'. ` +
      'For help resolving this issue, see the access policies of the vault.',
    'ForbiddenByPolicy',
  );
}

function policyAllows(policies: unknown, caller: CallerIdentity, kind: string, permission: string): boolean {
  if (!Array.isArray(policies)) return false;
  const own = new Set([caller.objectId, ...caller.groups].map(foldCase));
  return policies.some((policy: unknown) => {
    if (!isRecord(policy) || typeof policy.objectId !== 'string' || !own.has(foldCase(policy.objectId))) return false;
    const { applicationId, permissions } = policy;
    if (typeof applicationId === 'string' && foldCase(applicationId) !== foldCase(caller.appId ?? '')) return false;
    const granted = isRecord(permissions) ? permissions[kind] : undefined;
    if (!Array.isArray(granted)) return false;
    return granted.some((one) => typeof one === 'string' && ['all', foldCase(permission)].includes(foldCase(one)));
  });
}
