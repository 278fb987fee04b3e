// Certificate signing requests: asked by one, approved by another, signed by a third, each by a way of their own.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../object.ts';
import { duplicate, forbiddenField, invalidBy, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { dns1123Subdomain } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

interface Condition {
  type: string;
  status: string;
  lastUpdateTime?: string | null;
  lastTransitionTime?: string | null;
}

interface Request extends KubeObject {
  spec: {
    request: string | null;
    signerName: string;
    usages?: string[];
    expirationSeconds?: number;
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
  };
  status: { conditions?: Condition[]; certificate?: string };
}

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const leastSeconds = 600;
const longestSigner = 253 + 1 + 63;

function validateSigner(name: string): FieldError[] {
  const field = 'spec.signerName';
  if (!name) return [required(field)];
  const segments = name.split('/');
  if (segments.length !== 2) {
    return [
      invalidValue(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ];
  }
  const [domain = '', path = ''] = segments;
  const found = [...invalidBy(field, domain, dns1123Subdomain(domain))];
  if (domain.split('.').length < 2) {
    found.push(invalidValue(field, domain, 'should be a domain with at least two segments separated by dots'));
  }
  for (const part of path.split('.')) found.push(...invalidBy(field, path, dns1123Subdomain(part)));
  if (name.length > longestSigner) {
    found.push({ type: 'FieldValueTooLong', field, message: `Too long: may not be more than ${longestSigner} bytes` });
  }
  return found;
}

const isRequestPem = (request: string | null): boolean =>
  Buffer.from(request ?? '', 'base64')
    .toString()
    .includes('-----BEGIN CERTIFICATE REQUEST-----');

function validate(object: KubeObject): FieldError[] {
  const { spec } = object as Request;
  const found: FieldError[] = [];
  if (!isRequestPem(spec.request)) {
    found.push(invalidValue('spec.request', spec.request || null, 'PEM block type must be CERTIFICATE REQUEST'));
  }
  if (!spec.usages?.length) found.push(required('spec.usages'));
  const seen = new Set<string>();
  for (const [index, usage] of (spec.usages ?? []).entries()) {
    if (!usages.includes(usage)) found.push(notSupported(`spec.usages[${index}]`, usage, usages));
    if (seen.has(usage)) found.push(duplicate(`spec.usages[${index}]`, usage));
    seen.add(usage);
  }
  if (spec.signerName === 'kubernetes.io/legacy-unknown') {
    found.push(
      invalidValue('spec.signerName', spec.signerName, 'the legacy signerName is not allowed via this API version'),
    );
  } else found.push(...validateSigner(spec.signerName));
  if (spec.expirationSeconds !== undefined && spec.expirationSeconds < leastSeconds) {
    found.push(
      invalidValue(
        'spec.expirationSeconds',
        spec.expirationSeconds,
        `may not specify a duration less than ${leastSeconds} seconds (10 minutes)`,
      ),
    );
  }
  return found;
}

const onlyTrue = ['Approved', 'Denied', 'Failed'];

function validateConditions(conditions: readonly Condition[]): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { type, status }] of conditions.entries()) {
    const at = `status.conditions[${index}]`;
    if (!type) found.push(required(`${at}.type`));
    const allowed = onlyTrue.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (!status) found.push(required(`${at}.status`));
    else if (!allowed.includes(status)) found.push(notSupported(`${at}.status`, status, allowed));
    if ((type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved'))) {
      found.push(invalidValue('status.conditions', type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type)) found.push(duplicate(`${at}.type`, type));
    seen.add(type);
  }
  return found;
}

const ofType = (conditions: readonly Condition[], type: string): Condition[] =>
  conditions.filter((condition) => condition.type === type);

/** What was decided stays decided. */
function validateDecisions(object: KubeObject, old: KubeObject): FieldError[] {
  const after = (object as Request).status.conditions ?? [];
  const before = (old as Request).status.conditions ?? [];
  return [
    ...validateConditions(after),
    ...onlyTrue
      .filter((type) => ofType(before, type).length > 0 && ofType(after, type).length === 0)
      .map((type) => forbiddenField('status.conditions', `updates may not remove a condition of type "${type}"`)),
  ];
}

function validateCertificate(object: KubeObject, old: KubeObject): FieldError[] {
  const after = (object as Request).status.certificate;
  const before = (old as Request).status.certificate;
  if (before && after !== before) {
    return [forbiddenField('status.certificate', 'updates may not modify existing certificate content')];
  }
  if (after && !Buffer.from(after, 'base64').toString().includes('-----BEGIN CERTIFICATE-----')) {
    return [invalidValue('status.certificate', '<certificate data>', 'must contain one or more PEM blocks')];
  }
  return [];
}

/** Conditions get the time at which they came or changed. */
function stamp(conditions: readonly Condition[], before: readonly Condition[], now: number): Condition[] {
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return conditions.map((condition) => {
    const same = ofType(before, condition.type).find(({ status }) => status === condition.status);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime || time,
      lastTransitionTime: condition.lastTransitionTime || same?.lastTransitionTime || time,
    };
  });
}

const withConditions = (status: Request['status'], conditions: Condition[]): Request['status'] => {
  const { conditions: _, ...rest } = status;
  return conditions.length > 0 ? { ...rest, conditions } : rest;
};

export const certificatesTypes: readonly ResourceType[] = [
  declare('certificates.k8s.io', {
    kind: 'CertificateSigningRequest',
    plural: 'certificatesigningrequests',
    shortNames: ['csr'],
    namespaced: false,
    subresources: {
      approval: {
        kind: 'status',
        prepareUpdate(object, oldObject, context) {
          const old = oldObject as Request;
          const conditions = (object as Request).status.conditions ?? [];
          object.spec = old.spec;
          object.status = withConditions(
            old.status,
            stamp(conditions, old.status.conditions ?? [], context.cluster.now()),
          );
        },
        validateUpdate: validateDecisions,
      },
      status: {
        kind: 'status',
        prepareUpdate(object, oldObject, context) {
          const old = oldObject as Request;
          const { status } = object as Request;
          const before = old.status.conditions ?? [];
          object.spec = old.spec;
          // Whether it is approved is not for this way to say.
          const decided = before.filter(({ type }) => type === 'Approved' || type === 'Denied');
          const others = (status.conditions ?? []).filter(({ type }) => type !== 'Approved' && type !== 'Denied');
          object.status = withConditions(status, stamp([...decided, ...others], before, context.cluster.now()));
        },
        validateUpdate: (object, old) => [...validateDecisions(object, old), ...validateCertificate(object, old)],
      },
    },
    strategy: {
      generation: false,
      prepareCreate(object, { user }) {
        const { username: _, uid: __, groups: ___, extra: ____, ...spec } = (object as Request).spec;
        object.spec = {
          ...spec,
          username: user.name,
          ...(user.uid ? { uid: user.uid } : {}),
          ...(user.groups.length > 0 ? { groups: [...user.groups] } : {}),
          ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
        };
        object.status = {};
      },
      prepareUpdate(object, old) {
        object.spec = old.spec;
        object.status = old.status;
      },
      validate,
      validateUpdate: (object, old) => (isDeepStrictEqual(object.spec, old.spec) ? [] : validate(object)),
      fields: (object) => ({ 'spec.signerName': (object as Request).spec.signerName }),
    },
  }),
];
