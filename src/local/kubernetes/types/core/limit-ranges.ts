// Limit ranges: what a namespace's containers, pods and claims may ask for.
import type { KubeObject } from '../../object.ts';
import { duplicate, forbiddenField, invalidBy, invalidValue, keyed } from '../../schema/field-errors.ts';
import { qualifiedName } from '../../schema/names.ts';
import { compareQuantities, parseQuantity } from '../../schema/quantity.ts';
import type { FieldError } from '../../status.ts';
import { declare } from '../declare.ts';
import type { Resources } from '../pod/pod-spec.ts';
import { validateResourceName } from '../pod/validate-resources.ts';

interface Limit {
  type: string;
  max?: Resources;
  min?: Resources;
  default?: Resources;
  defaultRequest?: Resources;
  maxLimitRequestRatio?: Resources;
}

const limitsOf = (object: KubeObject): Limit[] => (object.spec as { limits: Limit[] | null }).limits ?? [];

/** Pairs of which the first may not be more than the second: who is at fault, whose value is shown, in which words. */
const orders: readonly (readonly [
  low: keyof Limit,
  high: keyof Limit,
  at: keyof Limit,
  shown: keyof Limit,
  words: (low: string, high: string) => string,
])[] = [
  ['min', 'max', 'min', 'min', (low, high) => `min value ${low} is greater than max value ${high}`],
  [
    'min',
    'defaultRequest',
    'defaultRequest',
    'defaultRequest',
    (low, high) => `min value ${low} is greater than default request value ${high}`,
  ],
  [
    'defaultRequest',
    'max',
    'defaultRequest',
    'defaultRequest',
    (low, high) => `default request value ${low} is greater than max value ${high}`,
  ],
  [
    'defaultRequest',
    'default',
    'defaultRequest',
    'defaultRequest',
    (low, high) => `default request value ${low} is greater than default limit value ${high}`,
  ],
  ['min', 'default', 'default', 'min', (low, high) => `min value ${low} is greater than default value ${high}`],
  ['default', 'max', 'default', 'max', (low, high) => `default value ${low} is greater than max value ${high}`],
];

function validate(object: KubeObject): FieldError[] {
  const types = new Set<string>();
  return limitsOf(object).flatMap((limit, index) => {
    const at = `spec.limits[${index}]`;
    const found = invalidBy(`${at}.type`, limit.type, qualifiedName(limit.type));
    if (
      found.length === 0 &&
      !limit.type.includes('/') &&
      !['Pod', 'Container', 'PersistentVolumeClaim'].includes(limit.type)
    ) {
      found.push(invalidValue(`${at}.type`, limit.type, 'must be a standard limit type or fully qualified'));
    }
    if (types.has(limit.type)) found.push(duplicate(`${at}.type`, limit.type));
    types.add(limit.type);
    const names = new Set<string>();
    for (const part of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const) {
      if (limit.type === 'Pod' && (part === 'default' || part === 'defaultRequest') && limit[part]) {
        found.push(forbiddenField(`${at}.${part}`, "may not be specified when `type` is 'Pod'"));
        continue;
      }
      for (const name of Object.keys(limit[part] ?? {})) {
        found.push(...validateResourceName(name, keyed(`${at}.${part}`, name)));
        names.add(name);
      }
    }
    for (const name of names) {
      for (const [low, high, place, shown, words] of orders) {
        const one = (limit[low] as Resources | undefined)?.[name];
        const other = (limit[high] as Resources | undefined)?.[name];
        if (one === undefined || other === undefined) continue;
        if (compareQuantities(parseQuantity(one), parseQuantity(other)) <= 0) continue;
        found.push(invalidValue(keyed(`${at}.${place}`, name), (limit[shown] as Resources)[name], words(one, other)));
      }
    }
    return found;
  });
}

export const limitRanges = declare('', {
  kind: 'LimitRange',
  plural: 'limitranges',
  shortNames: ['limits'],
  namespaced: true,
  strategy: {
    generation: false,
    defaults(object) {
      for (const limit of limitsOf(object)) {
        if (limit.type !== 'Container') continue;
        const defaults = { ...limit.max, ...limit.default };
        const requests = { ...limit.min, ...defaults, ...limit.defaultRequest };
        if (Object.keys(defaults).length > 0) limit.default = defaults;
        if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
      }
    },
    validate,
  },
});
