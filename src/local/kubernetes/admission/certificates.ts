// Who may approve and sign certificate requests, and which subjects nobody gets this way.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { Access } from '../access/access.ts';
import type { KubeObject } from '../object.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/admission.ts';
import { refused } from './pod.ts';

const group = 'certificates.k8s.io';
const storage = `${group}/certificatesigningrequests`;
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const mastersGroup = 'system:masters';

const signerOf = (object: KubeObject | undefined): string => {
  const { signerName } = (object?.spec ?? {}) as { signerName?: unknown };
  return typeof signerName === 'string' ? signerName : '';
};

/** A right to one signer, or to all of its domain (`kubernetes.io/*`). */
function maySign(access: Access, { context }: AdmissionRequest, verb: string, signer: string): boolean {
  const domain = `${signer.split('/', 1)[0]}/*`;
  return [signer, domain].some(
    (name) =>
      access.mayDo(context.user, {
        kind: 'resource',
        verb,
        group,
        version: '*',
        resource: 'signers',
        subresource: '',
        namespace: '',
        name,
      }).allowed,
  );
}

const changed = (request: AdmissionRequest, field: string): boolean => {
  const of = (object: KubeObject | undefined): unknown =>
    (object?.status as Record<string, unknown> | undefined)?.[field];
  return JSON.stringify(of(request.object)) !== JSON.stringify(of(request.old));
};

export function certificatePlugins(access: Access): readonly AdmissionPlugin[] {
  return [
    {
      name: 'CertificateApproval',
      waits: false,
      concerns: ({ type, subresource }) => type.storage === storage && subresource === 'approval',
      validate(request) {
        const signer = signerOf(request.old);
        if (maySign(access, request, 'approve', signer)) return;
        throw refused(request, `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`);
      },
    },
    {
      name: 'CertificateSigning',
      waits: false,
      concerns: ({ type, subresource }) => type.storage === storage && subresource === 'status',
      validate(request) {
        if (!changed(request, 'certificate') && !changed(request, 'conditions')) return;
        const signer = signerOf(request.old);
        if (maySign(access, request, 'sign', signer)) return;
        throw refused(request, `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`);
      },
    },
    {
      name: 'CertificateSubjectRestriction',
      waits: false,
      concerns: ({ operation, type, subresource }) =>
        operation === 'CREATE' && type.storage === storage && subresource === '',
      validate(request) {
        const { request: encoded } = (request.object?.spec ?? {}) as { request?: unknown };
        if (signerOf(request.object) !== clientSigner || typeof encoded !== 'string') return;
        if (!organizationsOf(encoded).includes(mastersGroup)) return;
        throw refused(request, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`);
      },
    },
  ];
}

/** The organizations that a request (base64 of PEM) asks for; none when it cannot be read, which validation refuses. */
function organizationsOf(encoded: string): readonly string[] {
  try {
    return new x509.Pkcs10CertificateRequest(Buffer.from(encoded, 'base64').toString()).subjectName.getField('O');
  } catch {
    return [];
  }
}
