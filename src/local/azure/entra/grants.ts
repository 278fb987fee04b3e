// What was granted and can be turned into tokens: authorization codes, refresh tokens, device codes. Only their hashes are kept.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Store } from '../../../store/store.ts';
import { aadsts } from './aadsts.ts';

export interface CodeGrant {
  readonly kind: 'code';
  readonly clientId: string;
  readonly userId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly codeChallenge?: string;
  readonly nonce?: string;
  /** The redirect URI is a native or single-page one: no client credential is asked for. */
  readonly publicClient: boolean;
  readonly redeemed?: boolean;
}

export interface RefreshGrant {
  readonly kind: 'refresh';
  readonly clientId: string;
  readonly userId: string;
  readonly scope: string;
  /** When the user signed in: what was revoked since does not count. */
  readonly signedInAt: number;
}

export interface DeviceGrant {
  readonly kind: 'device';
  readonly clientId: string;
  readonly clientName: string;
  readonly scope: string;
  readonly userCode: string;
  readonly state: 'pending' | 'approved' | 'declined';
  readonly userId?: string;
  readonly signedInAt?: number;
}

/** From what people type to the grant it is of. */
interface UserCode {
  readonly kind: 'userCode';
  readonly grant: string;
}

type Grant = CodeGrant | RefreshGrant | DeviceGrant | UserCode;
type Kept<G> = G & { readonly expiresAt: number };

export interface Grants {
  newCode(tenantId: string, grant: Omit<CodeGrant, 'kind'>): Promise<Secret<string>>;
  /** Takes a code, once. Throws 70000, 70008, 54005. */
  redeemCode(tenantId: string, code: string): Promise<CodeGrant>;
  newRefreshToken(tenantId: string, grant: Omit<RefreshGrant, 'kind'>): Promise<Secret<string>>;
  /** Throws 9002313, 700082. It stays valid, as Entra's do: several processes of a user share one. */
  refresh(tenantId: string, token: string): Promise<RefreshGrant>;
  newDeviceCode(
    tenantId: string,
    grant: Pick<DeviceGrant, 'clientId' | 'clientName' | 'scope'>,
  ): Promise<{ readonly deviceCode: Secret<string>; readonly userCode: string; readonly expiresIn: number }>;
  /** What a person typed, however they spelt it. Undefined when there is no such code that still waits. */
  pendingDevice(tenantId: string, userCode: string): Promise<DeviceGrant | undefined>;
  /** False when it no longer waits. */
  decideDevice(tenantId: string, userCode: string, userId: string | undefined): Promise<boolean>;
  /** Takes an approved device code, once. Throws 70018, 70016, 70020, 65004. */
  redeemDevice(tenantId: string, deviceCode: string, clientId: string): Promise<DeviceGrant>;
}

const codeSeconds = 600;
const refreshSeconds = 90 * 86_400;
export const deviceSeconds = 900;
/** An expired grant is kept a little, so that the answer says that it expired. */
const graceSeconds = 3600;
/** Letters that are not taken for others, and that make no words. */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
const userCodeLength = 9;

export async function openGrants(store: Store, now: () => number): Promise<Grants> {
  const container = await store.container<Kept<Grant>>({ name: 'entra_grants' });

  const keep = async (tenantId: string, grant: Grant, seconds: number): Promise<Secret<string>> => {
    const code = new Secret(randomBytes(48).toString('base64url'));
    const body = { ...grant, expiresAt: now() + seconds * 1000 };
    const id = idOf(grant.kind, code.reveal());
    await container.create({ partition: tenantId, id }, body, { ttlSeconds: seconds + graceSeconds });
    return code;
  };
  const read = async <K extends Grant['kind']>(partition: string, kind: K, code: string) => {
    const document = code.length > 512 ? undefined : await container.read({ partition, id: idOf(kind, code) });
    return document?.body.kind === kind ? (document as Document<Kept<Extract<Grant, { kind: K }>>>) : undefined;
  };
  const readDevice = async (partition: string, typed: string) => {
    const pointer = await read(partition, 'userCode', spelling(typed));
    if (!pointer) return undefined;
    const document = await container.read({ partition, id: pointer.body.grant });
    const { body } = document ?? {};
    const waits = body?.kind === 'device' && body.state === 'pending' && body.expiresAt > now();
    return document && waits ? (document as Document<Kept<DeviceGrant>>) : undefined;
  };

  return {
    newCode: (tenantId, grant) => keep(tenantId, { kind: 'code', ...grant }, codeSeconds),
    async redeemCode(tenantId, code) {
      const document = await read(tenantId, 'code', code);
      if (!document) throw aadsts.code();
      if (document.body.redeemed) throw aadsts.codeRedeemed();
      if (document.body.expiresAt <= now()) throw aadsts.codeExpired();
      try {
        await container.replace(document, { ...document.body, redeemed: true }, { ttlSeconds: graceSeconds });
      } catch (error) {
        if (isStoreError(error, 'Changed', 'NotFound')) throw aadsts.codeRedeemed();
        throw error;
      }
      return document.body;
    },
    newRefreshToken: (tenantId, grant) => keep(tenantId, { kind: 'refresh', ...grant }, refreshSeconds),
    async refresh(tenantId, token) {
      const document = await read(tenantId, 'refresh', token);
      if (!document) throw aadsts.refreshToken();
      if (document.body.expiresAt <= now()) throw aadsts.refreshTokenExpired();
      return document.body;
    },
    async newDeviceCode(tenantId, given) {
      const deviceCode = new Secret(randomBytes(48).toString('base64url'));
      const userCode = Array.from(
        { length: userCodeLength },
        () => userCodeLetters[randomInt(userCodeLetters.length)],
      ).join('');
      const id = idOf('device', deviceCode.reveal());
      const expiresAt = now() + deviceSeconds * 1000;
      const ttlSeconds = deviceSeconds + graceSeconds;
      await container.batch(tenantId, [
        { kind: 'create', id, body: { kind: 'device', ...given, userCode, state: 'pending', expiresAt }, ttlSeconds },
        {
          kind: 'create',
          id: idOf('userCode', userCode),
          body: { kind: 'userCode', grant: id, expiresAt },
          ttlSeconds,
        },
      ]);
      return { deviceCode, userCode, expiresIn: deviceSeconds };
    },
    async pendingDevice(tenantId, userCode) {
      return (await readDevice(tenantId, userCode))?.body;
    },
    async decideDevice(tenantId, userCode, userId) {
      const document = await readDevice(tenantId, userCode);
      if (!document) return false;
      const decided =
        userId === undefined
          ? ({ state: 'declined' } as const)
          : ({ state: 'approved', userId, signedInAt: now() } as const);
      try {
        await container.replace(document, { ...document.body, ...decided }, { ttlSeconds: graceSeconds });
        return true;
      } catch (error) {
        if (isStoreError(error, 'Changed', 'NotFound')) return false;
        throw error;
      }
    },
    async redeemDevice(tenantId, deviceCode, clientId) {
      const document = await read(tenantId, 'device', deviceCode);
      if (!document || document.body.clientId !== clientId) throw aadsts.deviceCode();
      if (document.body.expiresAt <= now()) throw aadsts.deviceCodeExpired();
      if (document.body.state === 'declined') throw aadsts.declined();
      if (document.body.state === 'pending') throw aadsts.pending();
      try {
        await container.delete(document);
      } catch (error) {
        if (isStoreError(error, 'Changed', 'NotFound')) throw aadsts.deviceCode();
        throw error;
      }
      return document.body;
    },
  };
}

function idOf(kind: Grant['kind'], code: string): string {
  return `${kind}-${createHash('sha256').update(code).digest('hex')}`;
}

function spelling(typed: string): string {
  return typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
}
