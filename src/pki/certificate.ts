import { type KeyObject, X509Certificate } from 'node:crypto';
import { PkiError } from './errors.ts';

/** A certificate with the private key it belongs to. */
export interface KeyedCertificate {
  readonly certificate: X509Certificate;
  /** The certificate as it goes on the wire: the leaf, then any intermediate certificates. */
  readonly certificatePem: string;
  readonly key: KeyObject;
}

const pemForm = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Every certificate in a PEM text, in order. `from` names its origin in the error. */
export function readCertificates(pem: string, from: string): readonly [X509Certificate, ...X509Certificate[]] {
  const found = pem.match(pemForm) ?? [];
  const [first, ...rest] = found.map((text, index) => {
    try {
      return new X509Certificate(text);
    } catch (cause) {
      throw new PkiError('garbage', `certificate ${index + 1} of ${from} cannot be read`, { cause });
    }
  });
  if (!first) throw new PkiError('garbage', `${from} holds no certificate in PEM`);
  return [first, ...rest];
}

/** Puts a certificate and its key together; throws `key-mismatch` when they are not a pair. */
export function pair(certificatePem: string, key: KeyObject, from: string): KeyedCertificate {
  const [certificate] = readCertificates(certificatePem, from);
  if (!certificate.checkPrivateKey(key)) {
    throw new PkiError('key-mismatch', `the private key does not belong to the certificate in ${from}`);
  }
  return { certificate, certificatePem, key };
}

/** Read once per certificate: an authority is asked for every leaf it signs. */
const lives = new WeakMap<X509Certificate, { readonly from: number; readonly until: number }>();

function lifeOf(certificate: X509Certificate): { readonly from: number; readonly until: number } {
  let life = lives.get(certificate);
  if (!life) {
    life = { from: Date.parse(certificate.validFrom), until: Date.parse(certificate.validTo) };
    lives.set(certificate, life);
  }
  return life;
}

export function notBefore(certificate: X509Certificate): Date {
  return new Date(lifeOf(certificate).from);
}

export function notAfter(certificate: X509Certificate): Date {
  return new Date(lifeOf(certificate).until);
}

/** Throws `expired` or `not-yet-valid` when `now` is outside the certificate's life. */
export function checkValidAt(certificate: X509Certificate, now: Date, from: string): void {
  if (now >= notAfter(certificate)) {
    throw new PkiError('expired', `${from} expired on ${notAfter(certificate).toISOString()}; issue a new one`);
  }
  if (now < notBefore(certificate)) {
    throw new PkiError(
      'not-yet-valid',
      `${from} is valid from ${notBefore(certificate).toISOString()} on; it is ${now.toISOString()} here: check the clock`,
    );
  }
}

/** Throws `not-an-authority` when other certificates may not be signed with it. */
export function checkAuthority(certificate: X509Certificate, from: string): void {
  if (certificate.ca) return;
  throw new PkiError('not-an-authority', `${from} is not the certificate of an authority (CA:TRUE is not set)`);
}
