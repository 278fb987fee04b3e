// The certificate that Resource Manager shows to providers, kept fresh, and the document by which they know it.
import { join } from 'node:path';
import type { KeyedCertificate } from '../../../pki/certificate.ts';
import { certificateFiles } from '../../../pki/files.ts';
import { type CertificateKeeper, keepCertificate } from '../../../pki/renewal.ts';

export interface ArmCertificateOptions {
  /** Where the cloud keeps its certificates. */
  readonly directory: string;
  readonly authority: KeyedCertificate;
  readonly suffix: string;
  readonly onFailure: (error: unknown) => void;
}

/** The name in the certificate. */
export function armCertificateName(suffix: string): string {
  return `arm.management.${suffix}`;
}

export function keepArmCertificate(options: ArmCertificateOptions): Promise<CertificateKeeper> {
  const { directory, authority, suffix, onFailure } = options;
  const name = armCertificateName(suffix);
  return keepCertificate({
    files: certificateFiles(join(directory, 'pki'), 'arm'),
    async issue() {
      // Loaded when it is needed, which is seldom: starting is quicker without it.
      const { issueClientCertificate } = await import('../../../pki/authority.ts');
      return issueClientCertificate(authority, { commonName: name, dnsNames: [name] });
    },
    stillRight: (certificate) =>
      certificate.checkIssued(authority.certificate) &&
      certificate.subjectAltName?.split(', ').includes(`DNS:${name}`) === true,
    onFailure,
  });
}

/** As TLS takes it. */
export function tlsPair({ certificatePem, key }: KeyedCertificate): { readonly cert: string; readonly key: string } {
  return { cert: certificatePem, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** As `GET /metadata/authentication` gives it. */
export function authenticationMetadata({ certificate }: KeyedCertificate): object {
  return {
    clientCertificates: [
      {
        thumbprint: certificate.fingerprint.replaceAll(':', ''),
        notBefore: new Date(certificate.validFrom).toISOString(),
        notAfter: new Date(certificate.validTo).toISOString(),
        certificate: certificate.raw.toString('base64'),
      },
    ],
  };
}
