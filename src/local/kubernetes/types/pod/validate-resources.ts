// Requests and limits of containers, and the names of resources.
import { invalidBy, invalidValue } from '../../schema/field-errors.ts';
import { qualifiedName } from '../../schema/names.ts';
import { compareQuantities, parseQuantity } from '../../schema/quantity.ts';
import type { FieldError } from '../../status.ts';
import type { Resources } from './pod-spec.ts';

const containerResources = ['cpu', 'memory', 'ephemeral-storage'];
/** What is counted in objects, and so only in whole numbers. */
export const countedResources: readonly string[] = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
/** What a quota may limit without a domain in its name. */
export const quotaResources: ReadonlySet<string> = new Set([
  ...containerResources,
  ...containerResources.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
  ...countedResources,
]);
const standardResources = new Set([...quotaResources, 'storage']);
const integerResources = new Set(countedResources);

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
const isExtendedResource = (name: string): boolean => !isNative(name) && !name.startsWith('requests.');

export function validateResourceName(name: string, field: string): FieldError[] {
  const found = invalidBy(field, name, qualifiedName(name));
  if (found.length > 0 || name.includes('/')) return found;
  if (standardResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')) return [];
  return [invalidValue(field, name, 'must be a standard resource type or fully qualified')];
}

function validateContainerResourceName(name: string, field: string): FieldError[] {
  const found = validateResourceName(name, field);
  if (name.includes('/')) return found;
  return containerResources.includes(name) || isHugePages(name)
    ? found
    : [...found, invalidValue(field, name, 'must be a standard resource for containers')];
}

export function validateResourceQuantity(name: string, text: string, field: string): FieldError[] {
  const quantity = parseQuantity(text);
  const found: FieldError[] = [];
  if (quantity.nanos < 0n) found.push(invalidValue(field, text, 'must be greater than or equal to 0'));
  if ((integerResources.has(name) || isExtendedResource(name)) && quantity.nanos % 1_000_000_000n !== 0n) {
    found.push(invalidValue(field, text, 'must be an integer'));
  }
  return found;
}

/** The resources of a container. */
export function validateContainerResources(
  { limits = {}, requests = {} }: { limits?: Resources; requests?: Resources },
  field: string,
): FieldError[] {
  const found: FieldError[] = [];
  for (const [name, text] of Object.entries(limits)) {
    const at = `${field}.limits[${name}]`;
    found.push(...validateContainerResourceName(name, at), ...validateResourceQuantity(name, text, at));
  }
  for (const [name, text] of Object.entries(requests)) {
    const at = `${field}.requests[${name}]`;
    found.push(...validateContainerResourceName(name, at), ...validateResourceQuantity(name, text, at));
    const limit = limits[name];
    if (limit !== undefined) {
      const order = compareQuantities(parseQuantity(text), parseQuantity(limit));
      if ((isExtendedResource(name) || isHugePages(name)) && order !== 0) {
        found.push(invalidValue(`${field}.requests`, text, `must be equal to ${name} limit of ${limit}`));
      } else if (order > 0) {
        found.push(invalidValue(`${field}.requests`, text, `must be less than or equal to ${name} limit of ${limit}`));
      }
    } else if (isExtendedResource(name) || isHugePages(name)) {
      found.push({
        type: 'FieldValueRequired',
        field: `${field}.limits`,
        message: 'Required value: Limit must be set for non overcommitable resources',
      });
    }
  }
  return found;
}
