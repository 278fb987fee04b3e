// Who a client certificate stands for.
import { X509Certificate } from 'node:crypto';
import { certificateCaller } from '../../../kit/caller.ts';
import type { User } from './user.ts';

/** A user known by certificate, until the certificate ends. */
export interface CertificateUser {
  readonly user: User;
  /** Epoch milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

const clientAuthentication = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

/**
 * The user of a certificate that the cluster's authority has signed for clients: the common name is the user's name, the
 * organizations are the groups. Undefined for any other. The caller holds the times against its clock at every request.
 */
export function certificateUser(certificate: X509Certificate, authority: X509Certificate): CertificateUser | undefined {
  if (certificate.ca || !certificate.checkIssued(authority) || !certificate.verify(authority.publicKey))
    return undefined;
  // The types say this is a list; certificates without the extension have none.
  const usages: readonly string[] | undefined = certificate.keyUsage;
  if (usages && !usages.includes(clientAuthentication) && !usages.includes(anyUsage)) return undefined;
  const { commonName, organizations } = certificateCaller(certificate);
  if (commonName === '') return undefined;
  const digest = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  return {
    user: {
      name: commonName,
      groups: [...organizations, 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
    },
    notBefore: new Date(certificate.validFrom).getTime(),
    notAfter: new Date(certificate.validTo).getTime(),
  };
}

/** A certificate from the wire (DER); undefined when it cannot be read. */
export function readCertificate(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
