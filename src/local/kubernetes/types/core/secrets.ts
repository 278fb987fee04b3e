// Secrets: data whose keys depend on the type.
import type { KubeObject } from '../../object.ts';
import { invalidBy, invalidValue, keyed, required, tooLong } from '../../schema/field-errors.ts';
import { configMapKey } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { declare } from '../declare.ts';
import { immutable } from '../metadata.ts';
import { decodedLength, mostDataBytes, validateImmutable } from './config-maps.ts';

interface Secret extends KubeObject {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

const accountAnnotation = 'kubernetes.io/service-account.name';

const needs =
  (...keys: string[]) =>
  ({ data = {} }: Secret): FieldError[] =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(keyed('data', key)));

const needsJson =
  (key: string) =>
  ({ data = {} }: Secret): FieldError[] => {
    const text = data[key];
    if (text === undefined) return [required(keyed('data', key))];
    try {
      JSON.parse(Buffer.from(text, 'base64').toString());
      return [];
    } catch {
      const reason =
        /^\s*[{["]/.test(Buffer.from(text, 'base64').toString()) || text === ''
          ? 'unexpected end of JSON input'
          : 'invalid character in JSON';
      return [invalidValue(keyed('data', key), '<secret contents redacted>', reason)];
    }
  };

/** What secrets of some types must hold. */
const byType: Readonly<Record<string, (secret: Secret) => FieldError[]>> = {
  'kubernetes.io/service-account-token': ({ metadata }) =>
    metadata.annotations?.[accountAnnotation] ? [] : [required(keyed('metadata.annotations', accountAnnotation))],
  'kubernetes.io/dockercfg': needsJson('.dockercfg'),
  'kubernetes.io/dockerconfigjson': needsJson('.dockerconfigjson'),
  'kubernetes.io/basic-auth': (secret) => {
    const missing = needs('username', 'password')(secret);
    return missing.length === 2 ? missing : [];
  },
  'kubernetes.io/ssh-auth': needs('ssh-privatekey'),
  'kubernetes.io/tls': needs('tls.crt', 'tls.key'),
};

function validate(object: KubeObject): FieldError[] {
  const secret = object as Secret;
  const found: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(secret.data ?? {})) {
    found.push(...invalidBy(keyed('data', key), key, configMapKey(key)));
    size += decodedLength(value);
  }
  if (size > mostDataBytes) found.push(tooLong('data', mostDataBytes));
  const check = Object.hasOwn(byType, secret.type ?? '') ? byType[secret.type ?? ''] : undefined;
  return [...found, ...(check?.(secret) ?? [])];
}

export const secrets = declare('', {
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  strategy: {
    generation: false,
    defaults(object) {
      const secret = object as Secret;
      secret.type ||= 'Opaque';
      if (!secret.stringData) return;
      secret.data ??= {};
      for (const [key, value] of Object.entries(secret.stringData)) {
        secret.data[key] = Buffer.from(value).toString('base64');
      }
      delete secret.stringData;
    },
    validate,
    validateUpdate: (object, old) => [
      ...immutable('type', object.type, old.type),
      ...validateImmutable(object, old, ['data']),
      ...validate(object),
    ],
    fields: (object) => ({ type: String(object.type ?? '') }),
  },
});
