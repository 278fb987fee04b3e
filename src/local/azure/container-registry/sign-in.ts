// How clients of a registry get tokens: an Entra ID token is exchanged for a refresh token, that or a password for access tokens.
import { ArmError } from '../../../arm/errors.ts';
import { bytesOf, type RegistryAnswer, type RegistryCall } from './call.ts';
import { registryError } from './errors.ts';
import { byPassword, grantedScopes, type Party, parseScopes } from './rights.ts';
import { accessToken, readRefresh, refreshToken } from './tokens.ts';

/** The user name that goes with a refresh token as password. */
export const refreshUser = '00000000-0000-0000-0000-000000000000';

async function formOf(call: RegistryCall): Promise<URLSearchParams> {
  return new URLSearchParams((await bytesOf(call, 64 * 1024)).toString('utf8'));
}

function checkService({ registry }: RegistryCall, service: string | null): void {
  if (service !== null && service.toLowerCase() !== registry.loginServer)
    throw registryError('UNAUTHORIZED', `service ${service.slice(0, 100)} is not this registry`);
}

export async function exchange(call: RegistryCall): Promise<RegistryAnswer> {
  const form = await formOf(call);
  checkService(call, form.get('service'));
  const grant = form.get('grant_type') ?? '';
  const given = form.get('access_token') ?? '';
  if (!grant.includes('access_token') || given === '')
    throw new ArmError(400, 'UNSUPPORTED', 'grant_type must be access_token, with an access_token');
  const party = await entraParty(call, given);
  return { status: 200, body: { refresh_token: await refreshToken(call.world, call.registry, party) } };
}

export async function entraParty({ world }: RegistryCall, token: string): Promise<Party> {
  const { cloud, directory } = world;
  try {
    const { objectId, groups } = await directory.authenticate(`Bearer ${token}`, [
      'https://containerregistry.azure.net',
      `https://azurecr.${cloud.suffix}`,
      // Azure takes tokens for Resource Manager as well: it is what az has at hand.
      cloud.origin,
      `https://management.${cloud.suffix}`,
      'https://management.azure.com',
      'https://management.core.windows.net',
    ]);
    return { kind: 'entra', objectId, groups };
  } catch (error) {
    if (!(error instanceof ArmError) || error.status !== 401) throw error;
    throw registryError('UNAUTHORIZED', error.message);
  }
}

export async function token(call: RegistryCall): Promise<RegistryAnswer> {
  const form = call.method === 'POST' ? await formOf(call) : call.query;
  checkService(call, form.get('service'));
  const party = await partyOf(call, form);
  const access = await grantedScopes(call.world, call.registry, party, parseScopes(form.getAll('scope')));
  const value = await accessToken(call.world, call.registry, party, access);
  return { status: 200, body: { access_token: value } };
}

async function partyOf(call: RegistryCall, form: URLSearchParams): Promise<Party> {
  const basic = basicOf(call);
  const grant = form.get('grant_type');
  const refresh =
    grant === 'refresh_token' ? form.get('refresh_token') : basic?.user === refreshUser ? basic.password : null;
  if (refresh !== null) {
    const party = await readRefresh(call.world, call.registry, refresh);
    if (party === undefined) throw registryError('UNAUTHORIZED', 'the refresh token is not valid');
    return party;
  }
  const [user, password] =
    grant === 'password'
      ? [form.get('username') ?? '', form.get('password') ?? '']
      : [basic?.user, basic?.password ?? ''];
  if (user === undefined) return { kind: 'anonymous' };
  const party = await byPassword(call.world, call.registry, user, password);
  if (party === undefined) throw registryError('UNAUTHORIZED', 'the user name or password is wrong');
  return party;
}

export function basicOf({
  headers,
}: Pick<RegistryCall, 'headers'>): { readonly user: string; readonly password: string } | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/=]{1,12000})$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const at = text.indexOf(':');
  return at === -1 ? undefined : { user: text.slice(0, at), password: text.slice(at + 1) };
}
