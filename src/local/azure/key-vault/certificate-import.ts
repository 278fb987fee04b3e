// Certificates that are brought in: PEM texts and PKCS #12 containers.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { badParameter } from './errors.ts';
import { Pkcs12Error, readPkcs12 } from './pkcs12.ts';

export interface Imported {
  readonly key: KeyObject;
  /** DER; the one that the key belongs to first. */
  readonly certificates: readonly Buffer[];
  readonly isPem: boolean;
}

const certificateForm = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const keyForm =
  /-----BEGIN (?:RSA |EC |ENCRYPTED )?PRIVATE KEY-----[^-]+-----END (?:RSA |EC |ENCRYPTED )?PRIVATE KEY-----/;

/** `wantsPem` is what the policy says; undefined when it says nothing. Throws BadParameter. */
export async function readImport(value: string, password: string, wantsPem: boolean | undefined): Promise<Imported> {
  const isPem = value.includes('-----BEGIN');
  if (wantsPem !== undefined && wantsPem !== isPem)
    throw badParameter("The specified content does not have the form that the policy's content type says.");
  const { key, certificates } = isPem ? readPem(value, password) : await readContainer(value, password);
  if (key === undefined)
    throw badParameter(
      'The specified content has no private key. Certificates are brought in together with their key.',
    );
  const own = certificates.findIndex((der) => certificateOf(der).checkPrivateKey(key));
  const leaf = certificates[own];
  if (leaf === undefined) throw badParameter('The private key does not belong to any of the certificates.');
  return { key, isPem, certificates: [leaf, ...certificates.filter((_, at) => at !== own)] };
}

function readPem(text: string, password: string): { key?: KeyObject; certificates: readonly Buffer[] } {
  const certificates = (text.match(certificateForm) ?? []).slice(0, 20).map((pem) => certificateOf(pem).raw);
  const [pem] = keyForm.exec(text) ?? [];
  if (pem === undefined) return { certificates };
  try {
    return { certificates, key: createPrivateKey({ key: pem, passphrase: password }) };
  } catch {
    throw badParameter('The private key of the specified PEM content cannot be read, or the password is wrong.');
  }
}

async function readContainer(text: string, password: string) {
  try {
    return await readPkcs12(Buffer.from(text, 'base64'), password);
  } catch (error) {
    if (!(error instanceof Pkcs12Error)) throw error;
    throw badParameter(`The specified PKCS#12 X.509 certificate content can not be read: ${error.message}.`);
  }
}

function certificateOf(content: Buffer | string): X509Certificate {
  try {
    return new X509Certificate(content);
  } catch {
    throw badParameter('The specified content has a certificate that cannot be read.');
  }
}
