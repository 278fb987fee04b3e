// Config maps: plain data, that may be fixed for good.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../object.ts';
import { forbiddenField, invalidBy, invalidValue, keyed, tooLong } from '../../schema/field-errors.ts';
import { configMapKey } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { declare } from '../declare.ts';

/** Config maps and secrets hold at most this much. */
export const mostDataBytes = 1024 * 1024;

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

/** Bytes of a value in base64. */
export const decodedLength = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

function validate(object: KubeObject): FieldError[] {
  const { data = {}, binaryData = {} } = object as ConfigMap;
  const found: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    found.push(...invalidBy(keyed('data', key), key, configMapKey(key)));
    if (Object.hasOwn(binaryData, key)) {
      found.push(invalidValue(keyed('data', key), key, 'duplicate of key present in binaryData'));
    }
    size += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    found.push(...invalidBy(keyed('binaryData', key), key, configMapKey(key)));
    size += decodedLength(value);
  }
  // The path is empty, as it concerns the whole object; the server writes it so.
  if (size > mostDataBytes) found.push(tooLong('[]', mostDataBytes));
  return found;
}

/** What `immutable: true` forbids: taking it back, and changing any of the members named. */
export function validateImmutable(object: KubeObject, old: KubeObject, members: readonly string[]): FieldError[] {
  if (old.immutable !== true) return [];
  const detail = 'field is immutable when `immutable` is set';
  return [
    ...(object.immutable === true ? [] : [forbiddenField('immutable', detail)]),
    ...members
      .filter((member) => !isDeepStrictEqual(object[member], old[member]))
      .map((member) => forbiddenField(member, detail)),
  ];
}

export const configMaps = declare('', {
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  strategy: {
    generation: false,
    validate,
    validateUpdate: (object, old) => [...validateImmutable(object, old, ['data', 'binaryData']), ...validate(object)],
  },
});
