import type { Cloud } from '../cloud.ts';

const known = new WeakMap<object, readonly string[]>();

/** What tokens for Resource Manager may be made out to: this cloud's own names, and those that SDKs ask for unless told otherwise. */
export function audiencesOf(cloud: Cloud): readonly string[] {
  const found = known.get(cloud);
  if (found) return found;
  const names = [
    cloud.origin,
    `https://management.${cloud.suffix}`,
    'https://management.azure.com',
    'https://management.core.windows.net',
  ];
  const audiences = names.flatMap((name) => [name, `${name}/`]);
  known.set(cloud, audiences);
  return audiences;
}
