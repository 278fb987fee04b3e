// Client assertions: a token that the client signed with its certificate's key, or that an issuer signed whom the application trusts.
import { createHash, X509Certificate } from 'node:crypto';
import type { JWTPayload, ProtectedHeaderParameters } from 'jose';
import { quotable } from '../../../arm/query.ts';
import { aadsts } from './aadsts.ts';
import type { FederatedCredential, KeyCredential } from './directory-objects.ts';
import type { IssuerKeys } from './issuer-keys.ts';

export interface Assertion {
  readonly text: string;
  readonly header: ProtectedHeaderParameters & { readonly 'x5t#S256'?: unknown };
  readonly claims: JWTPayload;
}

const maxLength = 16 * 1024;
/** Clocks of clients may differ by this much. */
const skewSeconds = 300;

/** Reads an assertion without trusting it. Throws 50027. */
export async function readAssertion(text: string): Promise<Assertion> {
  if (text.length > maxLength) throw aadsts.jwt();
  const { decodeJwt, decodeProtectedHeader } = await import('jose');
  try {
    return { text, header: decodeProtectedHeader(text), claims: decodeJwt(text) };
  } catch {
    throw aadsts.jwt();
  }
}

/**
 * Checks an assertion that the client signed itself. One may be used again until it expires: Entra lets it, and its client
 * libraries send the same one for every token they ask for meanwhile.
 */
export async function checkOwnAssertion(
  assertion: Assertion,
  clientId: string,
  keys: readonly KeyCredential[],
  audiences: readonly string[],
  machineNow: number,
): Promise<void> {
  const { claims } = assertion;
  if (claims.sub?.toLowerCase() !== clientId) throw aadsts.assertionClient();
  const key = keys.find((one) => isSignedWith(assertion.header, one));
  if (!key) throw aadsts.assertionSignature('The key was not found');
  const certificate = new X509Certificate(Buffer.from(key.certificate, 'base64'));
  if (machineNow > Date.parse(certificate.validTo)) throw aadsts.assertionSignature('The key used is expired');
  const { compactVerify } = await import('jose');
  try {
    await compactVerify(assertion.text, certificate.publicKey, { algorithms: ['RS256', 'PS256', 'ES256'] });
  } catch {
    throw aadsts.assertionSignature('The key was found, but use of the key to verify the signature failed');
  }
  const aud = [claims.aud ?? []].flat();
  if (!aud.some((one) => audiences.includes(one.replace(/\/$/, '')))) throw aadsts.assertionAudience();
  checkTimes(claims, machineNow);
}

/** Checks an assertion of another issuer against the trust that the application has in it. */
export async function checkFederatedAssertion(
  assertion: Assertion,
  credentials: readonly FederatedCredential[],
  issuerKeys: IssuerKeys,
  machineNow: number,
): Promise<void> {
  const { claims } = assertion;
  const [issuer, subject] = [claims.iss ?? '', claims.sub ?? ''];
  const audiences = [claims.aud ?? []].flat();
  const trusted = credentials.filter((one) => one.issuer === issuer);
  if (trusted.length === 0) throw aadsts.federatedIssuer(issuer);
  const same = trusted.filter((one) => one.subject === subject);
  if (same.length === 0) throw aadsts.federatedSubject(subject);
  if (!same.some((one) => one.audiences.some((audience) => audiences.includes(audience)))) {
    throw aadsts.federatedAudience(audiences.join(' '));
  }
  // Only now, when somebody has named this issuer as one to trust, is it asked for its keys.
  await verifyWithIssuer(assertion.text, issuer, issuerKeys);
  checkTimes(claims, machineNow);
}

async function verifyWithIssuer(text: string, issuer: string, issuerKeys: IssuerKeys): Promise<void> {
  const { compactVerify, errors } = await import('jose');
  for (const fresh of [false, true]) {
    const keys = await issuerKeys.of(issuer, fresh).catch((error: unknown) => {
      throw aadsts.federatedEndpoint(quotable(error instanceof Error ? error.message : '', 200));
    });
    try {
      await compactVerify(text, keys, { algorithms: ['RS256'] });
      return;
    } catch (error) {
      // The issuer may have changed its keys since they were read.
      if (!fresh && error instanceof errors.JWKSNoMatchingKey) continue;
      throw aadsts.assertionSignature('The signature does not verify with the keys of the issuer');
    }
  }
}

function isSignedWith(header: Assertion['header'], key: KeyCredential): boolean {
  const der = Buffer.from(key.certificate, 'base64');
  const sha1 = createHash('sha1').update(der).digest();
  const sha256 = createHash('sha256').update(der).digest();
  const { x5t, kid } = header;
  return (
    header['x5t#S256'] === sha256.toString('base64url') ||
    x5t === sha1.toString('base64url') ||
    (typeof kid === 'string' &&
      (kid.toUpperCase() === sha1.toString('hex').toUpperCase() || kid === sha1.toString('base64url')))
  );
}

function checkTimes(claims: JWTPayload, machineNow: number): void {
  const now = machineNow / 1000;
  const { exp, nbf } = claims;
  if (typeof exp !== 'number' || exp + skewSeconds < now) throw aadsts.assertionTime();
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf - skewSeconds > now)) throw aadsts.assertionTime();
}
