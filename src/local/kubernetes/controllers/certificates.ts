// Certificate requests: those of nodes are approved by rule, all that are approved are signed.

import type { Usage } from '../../../pki/authority.ts';
import { type CheckedRequest, readRequest, signRequest } from '../../../pki/csr.ts';
import { PkiError } from '../../../pki/errors.ts';
import type { User } from '../access/user.ts';
import { type Controller, itself } from './controller.ts';
import { copyOf, type Hands } from './hands.ts';
import { certificateRequests } from './kinds.ts';
import { conditionOf } from './pods.ts';
import type { CertificateRequest, Condition } from './shapes.ts';

const nodeClient = 'kubernetes.io/kube-apiserver-client-kubelet';
const nodePrefix = 'system:node:';
const defaultLifeSeconds = 365 * 24 * 3600;
/** Requests that nobody decides, and those that are done with, do not stay for ever. */
const keepMs = { Pending: 24 * 3_600_000, Approved: 3_600_000, Denied: 3_600_000 } as const;

interface Signer {
  /** What is wrong with a request for this signer; undefined when nothing is. */
  problem(request: CheckedRequest, usages: readonly string[]): string | undefined;
}

const keyUsages = ['digital signature', 'key encipherment'];
const only =
  (allowed: string, needed = true) =>
  (usages: readonly string[]): boolean =>
    usages.every((usage) => usage === allowed || keyUsages.includes(usage)) && (!needed || usages.includes(allowed));

const isNode = ({ names }: CheckedRequest): boolean =>
  names.commonName.startsWith(nodePrefix) &&
  names.organizations.length === 1 &&
  names.organizations[0] === 'system:nodes';
const hasAlternatives = ({ names }: CheckedRequest): boolean => names.dnsNames.length + names.ipAddresses.length > 0;

const signers: Readonly<Record<string, Signer>> = {
  'kubernetes.io/kube-apiserver-client': {
    problem: (_request, usages) => (only('client auth')(usages) ? undefined : 'usages did not match [client auth]'),
  },
  [nodeClient]: {
    problem(request, usages) {
      if (!isNode(request)) return 'subject organization is not system:nodes';
      if (hasAlternatives(request)) return 'DNS and IP names are not allowed';
      return only('client auth')(usages) ? undefined : 'usages did not match [client auth]';
    },
  },
  'kubernetes.io/kubelet-serving': {
    problem(request, usages) {
      if (!isNode(request)) return 'subject organization is not system:nodes';
      if (!hasAlternatives(request)) return 'DNS or IP subjectAltName is required';
      return only('server auth')(usages) ? undefined : 'usages did not match [server auth]';
    },
  },
  'kubernetes.io/legacy-unknown': { problem: () => undefined },
};

const pemOf = ({ spec }: CertificateRequest): string => Buffer.from(spec.request, 'base64').toString();
const isTrue = (request: CertificateRequest, type: string): boolean =>
  conditionOf(request.status?.conditions, type)?.status === 'True';

/** A kubelet may have its client certificate when whoever asks has the right to ask for nodes, or for itself. */
async function approveNode(hands: Hands, request: CertificateRequest): Promise<boolean> {
  const { spec } = request;
  if (spec.signerName !== nodeClient) return false;
  const read = await readRequest(pemOf(request));
  if (signers[nodeClient]?.problem(read, spec.usages ?? [])) return false;
  const user: User = { name: spec.username ?? '', groups: spec.groups ?? [] };
  const may = (subresource: string): boolean =>
    hands.cluster.mayDo(user, {
      kind: 'resource',
      verb: 'create',
      group: 'certificates.k8s.io',
      version: '*',
      resource: 'certificatesigningrequests',
      subresource,
      namespace: '',
      name: '',
    }).allowed;
  const itself = read.names.commonName === user.name && may('selfnodeclient');
  if (!itself && !may('nodeclient')) return false;
  const now = hands.timestamp();
  const approved: Condition = {
    type: 'Approved',
    status: 'True',
    reason: 'AutoApproved',
    message: itself
      ? 'Auto approving self kubelet client certificate after SubjectAccessReview.'
      : 'Auto approving kubelet client certificate after SubjectAccessReview.',
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
  const changed = copyOf(request);
  changed.status = { ...request.status, conditions: [...(request.status?.conditions ?? []), approved] };
  await hands.update(certificateRequests, changed, 'approval');
  return true;
}

const usageOf: Readonly<Record<string, Usage>> = { 'client auth': 'client', 'server auth': 'server' };

async function sign(hands: Hands, request: CertificateRequest): Promise<void> {
  const { spec } = request;
  const signer = signers[spec.signerName];
  if (!signer) return;
  try {
    const read = await readRequest(pemOf(request));
    const problem = signer.problem(read, spec.usages ?? []);
    if (problem) {
      await fail(hands, request, 'SignerValidationFailure', problem);
      return;
    }
    const usages = (spec.usages ?? []).flatMap((usage) => usageOf[usage] ?? []);
    const exact = (names: readonly string[]) => names.map((name) => ({ exact: name }));
    const { certificatePem } = await signRequest(
      await hands.cluster.authority(),
      pemOf(request),
      {
        usages: usages.length > 0 ? usages : ['client'],
        commonNames: exact([read.names.commonName]),
        organizations: exact(read.names.organizations),
        dnsNames: exact(read.names.dnsNames),
        ipRanges: read.names.ipAddresses.map((address) => `${address}/${address.includes(':') ? 128 : 32}`),
        uris: exact(read.names.uris),
      },
      { lifeSeconds: Math.min(spec.expirationSeconds ?? defaultLifeSeconds, defaultLifeSeconds) },
    );
    const changed = copyOf(request);
    changed.status = { ...request.status, certificate: Buffer.from(certificatePem).toString('base64') };
    await hands.update(certificateRequests, changed, 'status');
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    await fail(hands, request, 'SigningError', error.message);
  }
}

async function fail(hands: Hands, request: CertificateRequest, reason: string, message: string): Promise<void> {
  const now = hands.timestamp();
  const failed: Condition = {
    type: 'Failed',
    status: 'True',
    reason,
    message,
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
  const changed = copyOf(request);
  changed.status = { ...request.status, conditions: [...(request.status?.conditions ?? []), failed] };
  await hands.update(certificateRequests, changed, 'status');
}

export const certificateController: Controller = {
  name: 'certificate-controller',
  triggers: { [certificateRequests.type.storage]: itself },
  async reconcile(hands, { name }) {
    const request = hands.get(certificateRequests, '', name);
    if (!request) return undefined;
    const state =
      isTrue(request, 'Denied') || isTrue(request, 'Failed')
        ? 'Denied'
        : isTrue(request, 'Approved')
          ? 'Approved'
          : 'Pending';
    const left = Date.parse(request.metadata.creationTimestamp ?? '') + keepMs[state] - hands.now();
    if (left <= 0) {
      await hands.remove(certificateRequests, request);
      return undefined;
    }
    try {
      if (state === 'Pending') await approveNode(hands, request);
      else if (state === 'Approved' && !request.status?.certificate) await sign(hands, request);
    } catch (error) {
      // What cannot be read is not approved by rule; people may still look at it.
      if (!(error instanceof PkiError)) throw error;
    }
    return { afterMs: left };
  },
};
