// Certificate signing requests.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'certificates.k8s.io';

export const certificatesTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'CertificateSigningRequest',
    plural: 'certificatesigningrequests',
    shortNames: ['csr'],
    namespaced: false,
    subresources: { approval: { kind: 'status' }, status },
    strategy: { generation: false },
  }),
];
