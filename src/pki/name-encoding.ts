// How checked names are written into certificates and requests.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { CertificateNames } from './names.ts';

/** The values are given by type, since the library would read quotes and `#` in a bare string as notation. */
export function subjectName(names: CertificateNames): x509.Name {
  return new x509.Name([
    ...names.organizations.map((name) => ({ O: [{ utf8String: name }] })),
    ...(names.commonName === '' ? [] : [{ CN: [{ utf8String: names.commonName }] }]),
  ]);
}

export function alternativeNames(names: CertificateNames): x509.JsonGeneralNames {
  return [
    ...names.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...names.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
    ...names.uris.map((value) => ({ type: 'url' as const, value })),
  ];
}
