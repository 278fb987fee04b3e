// Tokens of a registry: refresh tokens say who somebody is, access tokens what may be done.
import { isRecord } from '../../../arm/record.ts';
import type { World } from '../kernel/world.ts';
import type { Registry } from './registry.ts';
import type { Party, Scope } from './rights.ts';

const issuer = 'Azure Container Registry';
const refreshSeconds = 3 * 3600;
const accessSeconds = 75 * 60;

function keyOf({ tokenKey }: Registry): Uint8Array {
  return Buffer.from(tokenKey.reveal(), 'base64');
}

async function sign(world: World, registry: Registry, type: string, seconds: number, claims: object): Promise<string> {
  const now = Math.floor(world.clock.now() / 1000);
  const { SignJWT } = await import('jose');
  return new SignJWT({ grant_type: type, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(registry.loginServer)
    .setIssuedAt(now)
    .setExpirationTime(now + seconds)
    .sign(keyOf(registry));
}

export function refreshToken(world: World, registry: Registry, party: Party): Promise<string> {
  return sign(world, registry, 'refresh_token', refreshSeconds, { party });
}

export function accessToken(world: World, registry: Registry, party: Party, access: readonly Scope[]): Promise<string> {
  return sign(world, registry, 'access_token', accessSeconds, { party, access });
}

async function verify(world: World, registry: Registry, token: string, type: string) {
  const { jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(token, keyOf(registry), {
      issuer,
      audience: registry.loginServer,
      algorithms: ['HS256'],
      currentDate: new Date(world.clock.now()),
    });
    return payload.grant_type === type ? payload : undefined;
  } catch {
    // Whatever is wrong with it, it is not a token of this registry.
    return undefined;
  }
}

export async function readRefresh(world: World, registry: Registry, token: string): Promise<Party | undefined> {
  const payload = await verify(world, registry, token, 'refresh_token');
  return isRecord(payload?.party) ? (payload.party as unknown as Party) : undefined;
}

/** What an access token lets do. */
export async function readAccess(
  world: World,
  registry: Registry,
  token: string,
): Promise<{ readonly party: Party; readonly access: readonly Scope[] } | undefined> {
  const payload = await verify(world, registry, token, 'access_token');
  if (payload === undefined || !isRecord(payload.party)) return undefined;
  return {
    party: payload.party as unknown as Party,
    access: Array.isArray(payload.access) ? (payload.access as readonly Scope[]) : [],
  };
}
