// Shared access signatures: of an account, of a container or blob by the account's key, or in the name of a user. Signature, times,
// protocol and permissions are all checked.
import type { CallerIdentity } from '../kernel/provider.ts';
import type { World } from '../kernel/world.ts';
import type { Account } from './account.ts';
import type { StorageCall } from './call.ts';
import { readContainer } from './documents.ts';
import { storageError } from './errors.ts';
import { hmac, matches } from './signatures.ts';

/** What an address allows. */
export interface SasGrant {
  readonly permissions: string;
  /** Of an account's signature: which of service, container and object. */
  readonly levels?: string;
  /** In the name of this user, whose rights count as well. */
  readonly user?: Pick<CallerIdentity, 'objectId' | 'groups'>;
  /** A blob or a container that it is for. */
  readonly on?: { readonly container: string; readonly blob?: string };
  readonly overrides: { readonly [header: string]: string };
}

function failed(detail: string) {
  return storageError(403, 'AuthenticationFailed', `Server failed to authenticate the request. ${detail}`);
}

/** Throws 403. The query has a `sig`. */
export async function readSas(call: StorageCall): Promise<SasGrant> {
  const { query } = call;
  const version = query.sv ?? '';
  if (!/^20\d\d-\d\d-\d\d$/.test(version)) throw failed('The signed version is missing or not valid.');
  if (query.spr !== undefined && !query.spr.split(',').includes('https')) throw failed('The protocol is not allowed.');
  return query.ss === undefined ? serviceGrant(call, version) : accountGrant(call, version);
}

function checkTimes(call: StorageCall, start: string | undefined, expiry: string | undefined): void {
  const now = call.world.clock.now();
  const from = start === undefined || start === '' ? undefined : Date.parse(start);
  const until = Date.parse(expiry ?? '');
  if (Number.isNaN(until) || Number.isNaN(from ?? 0)) throw failed('A time of the signature is not valid.');
  if (until <= now || (from !== undefined && from > now))
    throw failed(
      `Signature not valid in the specified time frame: Start [${start ?? ''}] - Expiry [${expiry ?? ''}] - Current [${new Date(now).toUTCString()}]`,
    );
}

function accountGrant(call: StorageCall, version: string): SasGrant {
  const { query, account } = call;
  const { sp = '', ss = '', srt = '', st = '', se = '', sip = '', spr = '', ses = '', sig = '' } = query;
  const parts = [account.name, sp, ss, srt, st, se, sip, spr, version, ...(version >= '2020-12-06' ? [ses] : []), ''];
  const text = parts.join('\n');
  if (!account.allowsKeys) throw storageError(403, 'KeyBasedAuthenticationNotPermitted');
  if (!account.keys.some((key) => matches(hmac(key.reveal(), text), sig))) throw failed('Signature did not match.');
  checkTimes(call, query.st, query.se);
  if (!ss.includes('b')) throw storageError(403, 'AuthorizationServiceMismatch');
  return { permissions: sp, levels: srt, overrides: {} };
}

async function serviceGrant(call: StorageCall, version: string): Promise<SasGrant> {
  const { query, account, container, blob } = call;
  const { sr = '', si, sig = '' } = query;
  if (sr !== 'b' && sr !== 'c') throw failed('The signed resource is not one of: b, c.');
  const isUser = query.skoid !== undefined;
  const name = `/blob/${account.name}/${container}${sr === 'b' ? `/${blob}` : ''}`;
  const text = isUser ? userText(query, name, version) : keyText(query, name, version);
  const keys = isUser ? [userKey(call)] : account.keys.map((key) => key.reveal());
  if (!isUser && !account.allowsKeys) throw storageError(403, 'KeyBasedAuthenticationNotPermitted');
  if (!keys.some((key) => matches(hmac(key, text), sig))) throw failed('Signature did not match.');
  const rule = si === undefined || isUser ? undefined : await ruleOf(call, si);
  checkTimes(call, query.st ?? rule?.start, query.se ?? rule?.expiry);
  if (isUser) checkTimes(call, query.skt, query.ske);
  return {
    permissions: query.sp ?? rule?.permissions ?? '',
    on: { container, ...(sr === 'b' ? { blob } : {}) },
    ...(isUser ? { user: await userOf(call.world, query.skoid ?? '') } : {}),
    overrides: overridesOf(query),
  };
}

async function ruleOf(call: StorageCall, id: string) {
  const container = await readContainer(call.documents, call.account.name, call.container);
  const rule = container?.body.rules?.find((one) => one.id === id);
  if (rule === undefined) throw failed('The signed identifier is not known on the container.');
  return rule;
}

type Query = StorageCall['query'];
const responseNames = ['rscc', 'rscd', 'rsce', 'rscl', 'rsct'];

function keyText(query: Query, name: string, version: string): string {
  const snapshot = query.snapshot ?? '';
  const { sp = '', st = '', se = '', si = '', sip = '', spr = '', sr = '', ses = '' } = query;
  return [
    ...[sp, st, se, name, si, sip, spr, version],
    ...(version >= '2018-11-09' ? [sr, snapshot] : []),
    ...(version >= '2020-12-06' ? [ses] : []),
    ...responseNames.map((part) => query[part] ?? ''),
  ].join('\n');
}

function userText(query: Query, name: string, version: string): string {
  const { sp = '', st = '', se = '', sip = '', spr = '', sr = '', ses = '' } = query;
  const { skoid = '', sktid = '', skt = '', ske = '', sks = '', skv = '', saoid = '', suoid = '', scid = '' } = query;
  return [
    ...[sp, st, se, name, skoid, sktid, skt, ske, sks, skv],
    ...(version >= '2020-02-10' ? [saoid, suoid, scid] : []),
    ...(version >= '2025-07-05' ? [query.skdutid ?? '', query.sduoid ?? ''] : []),
    ...[sip, spr, version, sr, query.snapshot ?? ''],
    ...(version >= '2020-12-06' ? [ses] : []),
    // Headers and parameters that a request must have; clients of this cloud do not bind any.
    ...(version >= '2026-04-06' ? ['', ''] : []),
    ...responseNames.map((part) => query[part] ?? ''),
  ].join('\n');
}

export interface DelegationKey {
  readonly objectId: string;
  readonly tenantId: string;
  readonly start: string;
  readonly expiry: string;
  readonly service: string;
  readonly version: string;
}

/** Made from what it says and the account's own secret, so that nothing need be kept of it. */
export function delegationKey(account: Account, key: DelegationKey): string {
  const { objectId, tenantId, start, expiry, service, version } = key;
  const secret = account.delegation?.reveal() ?? '';
  return hmac(secret, [objectId, tenantId, start, expiry, service, version].join('\n'));
}

function userKey({ query, account }: StorageCall): string {
  return delegationKey(account, {
    objectId: query.skoid ?? '',
    tenantId: query.sktid ?? '',
    start: query.skt ?? '',
    expiry: query.ske ?? '',
    service: query.sks ?? '',
    version: query.skv ?? '',
  });
}

/** The groups of a user are not looked up: rights by groups do not count behind such an address. */
async function userOf(world: World, objectId: string): Promise<Pick<CallerIdentity, 'objectId' | 'groups'>> {
  if ((await world.directory.principal(objectId)) === undefined) throw failed('The signing user no longer exists.');
  return { objectId, groups: [] };
}

const overrideHeaders: { readonly [parameter: string]: string } = {
  rscc: 'cache-control',
  rscd: 'content-disposition',
  rsce: 'content-encoding',
  rscl: 'content-language',
  rsct: 'content-type',
};

function overridesOf(query: Query): { readonly [header: string]: string } {
  return Object.fromEntries(
    Object.entries(overrideHeaders).flatMap(([parameter, name]) => {
      const value = query[parameter];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
