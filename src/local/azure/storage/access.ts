// Who may make a request to a storage account: by token and roles, by the account's key, by a signed address, or everybody.
import { ArmError } from '../../../arm/errors.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { StorageCall } from './call.ts';
import { header } from './call.ts';
import { readContainer } from './documents.ts';
import { storageError } from './errors.ts';
import { readSas, type SasGrant } from './sas.ts';
import { isSignedRequest } from './signatures.ts';

/** What a request needs, in the terms of every way to be allowed. */
export interface Need {
  /** Any one of these letters of a signed address. */
  readonly letters: string;
  readonly level: 's' | 'c' | 'o';
  /** Below `Microsoft.Storage/storageAccounts/blobServices/`. */
  readonly action: string;
  readonly data: boolean;
  /** What everybody may do on a public container: read a blob, or the container too. */
  readonly open?: 'blob' | 'container';
}

export interface Grant {
  readonly caller?: CallerIdentity;
  readonly overrides: { readonly [header: string]: string };
}

const resource = 'https://storage.azure.com';

/** Throws 401, 403 or, for everybody, 404. */
export async function admit(call: StorageCall, need: Need): Promise<Grant> {
  const authorization = header(call, 'authorization');
  const [scheme = ''] = (authorization ?? '').split(' ', 1);
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return byToken(call, need, authorization);
    case 'sharedkey':
      return byKey(call, authorization, false);
    case 'sharedkeylite':
      return byKey(call, authorization, true);
    case '':
      return call.query.sig === undefined ? byEverybody(call, need) : bySas(call, need);
    default:
      throw storageError(
        400,
        'InvalidAuthenticationInfo',
        'Authentication information is not given in the correct format. Check the value of Authorization header.',
      );
  }
}

async function byToken(call: StorageCall, need: Need, authorization: string | undefined): Promise<Grant> {
  const { directory, cloud } = call.world;
  let caller: CallerIdentity;
  try {
    caller = await directory.authenticate(authorization, [
      resource,
      `https://storage.${cloud.suffix}`,
      call.origin,
      'e406a681-f3d4-42a8-90b6-c2b029497af1',
    ]);
  } catch (error) {
    if (!(error instanceof ArmError) || error.status !== 401) throw error;
    throw storageError(401, 'InvalidAuthenticationInfo', error.message, challenge(call));
  }
  await demandRole(call, need, caller);
  return { caller, overrides: {} };
}

async function demandRole(
  call: StorageCall,
  need: Need,
  caller: Pick<CallerIdentity, 'objectId' | 'groups'>,
): Promise<void> {
  const { account, container } = call;
  const below = container === '' ? '/blobServices/default' : `/blobServices/default/containers/${container}`;
  const action = `Microsoft.Storage/storageAccounts/blobServices/${need.action}`;
  const { allowed } = await call.world.access.check(caller, action, `${account.id}${below}`, need.data);
  if (!allowed) throw storageError(403, 'AuthorizationPermissionMismatch');
}

function challenge({ world: { cloud, directory } }: StorageCall): { readonly [name: string]: string } {
  const place = `${cloud.origin}/${directory.tenantId}/oauth2/authorize`;
  return { 'www-authenticate': `Bearer authorization_uri=${place} resource_id=${resource}` };
}

const clockSkewMs = 15 * 60_000;

function byKey(call: StorageCall, authorization: string | undefined, isLite: boolean): Grant {
  const { account } = call;
  const [, credential = ''] = (authorization ?? '').split(' ');
  const at = credential.indexOf(':');
  const [name, signature] = [credential.slice(0, at), credential.slice(at + 1)];
  if (!account.allowsKeys) throw storageError(403, 'KeyBasedAuthenticationNotPermitted');
  const sent = Date.parse(header(call, 'x-ms-date') ?? header(call, 'date') ?? '');
  // The client signs with the machine's time, whatever was skipped here.
  const isRecent = [Date.now(), call.world.clock.now()].some((now) => Math.abs(now - sent) <= clockSkewMs);
  if (name.toLowerCase() !== account.name || !isRecent || !isSignedRequest(call, account, signature, isLite))
    throw storageError(403, 'AuthenticationFailed');
  return { overrides: {} };
}

async function bySas(call: StorageCall, need: Need): Promise<Grant> {
  const sas = await readSas(call);
  checkReach(need, sas);
  if (![...need.letters].some((letter) => sas.permissions.includes(letter)))
    throw storageError(403, 'AuthorizationPermissionMismatch');
  if (sas.user !== undefined) await demandRole(call, need, sas.user);
  return { overrides: sas.overrides };
}

function checkReach(need: Need, { levels, on }: SasGrant): void {
  if (levels !== undefined) {
    if (!levels.includes(need.level)) throw storageError(403, 'AuthorizationResourceTypeMismatch');
    return;
  }
  // One for a container is good for listing it and for its blobs, one for a blob only for that.
  const isReached =
    need.level === 'o' || (need.level === 'c' && on?.blob === undefined && need.action === 'containers/blobs/read');
  if (!isReached) throw storageError(403, 'AuthorizationFailure');
}

async function byEverybody(call: StorageCall, need: Need): Promise<Grant> {
  const { account, documents, container } = call;
  if (need.open !== undefined && container !== '') {
    const found = await readContainer(documents, account.name, container);
    const open = found?.body.publicAccess;
    if (open !== undefined && account.allowsPublic && (open === 'container' || need.open === 'blob'))
      return { overrides: {} };
  }
  throw storageError(401, 'NoAuthenticationInformation', undefined, challenge(call));
}
