// The policy of a certificate: how its key, its content and its renewal shall be.
import type { Static } from 'typebox';
import { Type } from '../../../arm/type.ts';
import type { JsonObject } from '../kernel/record.ts';
import { badParameter } from './errors.ts';

const text = (maxLength: number) => Type.String({ maxLength });
const texts = Type.Array(text(256), { maxItems: 200 });

export const policySchema = Type.Object({
  key_props: Type.Optional(
    Type.Object({
      exportable: Type.Optional(Type.Boolean()),
      kty: Type.Optional(text(16)),
      key_size: Type.Optional(Type.Integer()),
      reuse_key: Type.Optional(Type.Boolean()),
      crv: Type.Optional(text(16)),
    }),
  ),
  secret_props: Type.Optional(Type.Object({ contentType: Type.Optional(text(64)) })),
  x509_props: Type.Optional(
    Type.Object({
      subject: Type.Optional(text(1024)),
      sans: Type.Optional(
        Type.Object({
          emails: Type.Optional(texts),
          dns_names: Type.Optional(texts),
          upns: Type.Optional(texts),
          uris: Type.Optional(texts),
          ipAddresses: Type.Optional(texts),
        }),
      ),
      ekus: Type.Optional(Type.Array(Type.String({ pattern: '^[0-2](\\.[0-9]{1,9}){1,20}$' }), { maxItems: 50 })),
      key_usage: Type.Optional(Type.Array(text(32), { maxItems: 9 })),
      validity_months: Type.Optional(Type.Integer({ minimum: 1, maximum: 1200 })),
    }),
  ),
  lifetime_actions: Type.Optional(
    Type.Array(
      Type.Object({
        trigger: Type.Optional(
          Type.Object({
            lifetime_percentage: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 99 }), Type.Null()])),
            days_before_expiry: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
          }),
        ),
        action: Type.Optional(Type.Object({ action_type: Type.Optional(text(32)) })),
      }),
      { maxItems: 4 },
    ),
  ),
  issuer: Type.Optional(
    Type.Object({
      name: Type.Optional(text(128)),
      cty: Type.Optional(text(128)),
      cert_transparency: Type.Optional(Type.Boolean()),
    }),
  ),
});

type Given = Static<typeof policySchema>;

export interface Policy {
  readonly key_props: {
    readonly exportable: boolean;
    readonly kty: string;
    readonly key_size?: number;
    readonly crv?: string;
    readonly reuse_key: boolean;
  };
  readonly secret_props: { readonly contentType: string };
  readonly x509_props: {
    readonly subject: string;
    readonly sans?: NonNullable<NonNullable<Given['x509_props']>['sans']>;
    readonly ekus: readonly string[];
    readonly key_usage: readonly string[];
    readonly validity_months: number;
  };
  readonly lifetime_actions: readonly {
    readonly trigger: { readonly lifetime_percentage?: number; readonly days_before_expiry?: number };
    readonly action: { readonly action_type: string };
  }[];
  readonly issuer: { readonly name: string; readonly cty?: string; readonly cert_transparency?: boolean };
}

export const pkcs12Type = 'application/x-pkcs12';
export const pemType = 'application/x-pem-file';

/** The whole policy, what is not given filled in as vaults do. */
export function completePolicy(given: Given): Policy {
  const { key_props: key, secret_props: secret, x509_props: x509, issuer } = given;
  const kty = key?.kty ?? 'RSA';
  const isEc = kty.startsWith('EC');
  const contentType = secret?.contentType ?? pkcs12Type;
  if (contentType !== pkcs12Type && contentType !== pemType)
    throw badParameter(`Content type '${contentType}' is not one of: ${pkcs12Type}, ${pemType}.`);
  if (!['RSA', 'RSA-HSM', 'EC', 'EC-HSM'].includes(kty)) throw badParameter(`Key type '${kty}' is not supported.`);
  const usages = x509?.key_usage ?? ['digitalSignature', ...(isEc ? [] : ['keyEncipherment'])];
  const unknown = usages.find((usage) => !keyUsages.includes(usage));
  if (unknown !== undefined) throw badParameter(`Key usage '${unknown}' is not known.`);
  const issuerName = issuer?.name ?? 'Self';
  const isUnknown = issuerName.toLowerCase() === 'unknown';
  return {
    key_props: {
      exportable: key?.exportable ?? true,
      kty,
      ...(isEc ? { crv: key?.crv ?? 'P-256' } : { key_size: key?.key_size ?? 2048 }),
      reuse_key: key?.reuse_key ?? false,
    },
    secret_props: { contentType },
    x509_props: {
      subject: x509?.subject ?? '',
      ...(x509?.sans === undefined ? {} : { sans: x509.sans }),
      ekus: x509?.ekus ?? ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'],
      key_usage: usages,
      validity_months: x509?.validity_months ?? 12,
    },
    lifetime_actions: given.lifetime_actions?.map(({ trigger, action }) => ({
      trigger: {
        ...(typeof trigger?.lifetime_percentage === 'number'
          ? { lifetime_percentage: trigger.lifetime_percentage }
          : {}),
        ...(typeof trigger?.days_before_expiry === 'number' ? { days_before_expiry: trigger.days_before_expiry } : {}),
      },
      action: { action_type: action?.action_type ?? 'AutoRenew' },
    })) ?? [
      { trigger: { lifetime_percentage: 80 }, action: { action_type: isUnknown ? 'EmailContacts' : 'AutoRenew' } },
    ],
    issuer: { ...issuer, name: issuerName },
  };
}

export const keyUsages: readonly string[] = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];

export function policyOf(kept: JsonObject | undefined): Policy {
  return completePolicy((kept ?? {}) as Given);
}

/** When a certificate that lives from one time to another is to be renewed by itself; undefined when it is not. */
export function renewAt(policy: Policy, from: number, until: number): number | undefined {
  if (policy.issuer.name.toLowerCase() === 'unknown') return undefined;
  const times = policy.lifetime_actions.flatMap(({ trigger, action }) => {
    if (action.action_type.toLowerCase() !== 'autorenew') return [];
    const { lifetime_percentage: percentage, days_before_expiry: days } = trigger;
    if (percentage !== undefined) return [from + ((until - from) * percentage) / 100];
    return days === undefined ? [] : [until - days * 86_400_000];
  });
  return times.length === 0 ? undefined : Math.floor(Math.min(...times));
}
