// Which class of service a pod gets, from what its containers ask for.
import { parseQuantity } from '../../schema/quantity.ts';
import type { PodSpec, Resources } from './pod-spec.ts';

const counted = ['cpu', 'memory'] as const;

const some = (resources: Resources | undefined, name: string): bigint => {
  const text = resources?.[name];
  return text === undefined ? 0n : parseQuantity(text).nanos;
};

export function qualityOfService(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  let anything = false;
  let guaranteed = true;
  for (const { resources } of containers) {
    for (const name of counted) {
      const limit = some(resources.limits, name);
      const request = some(resources.requests, name);
      if (limit > 0n || request > 0n) anything = true;
      if (limit === 0n || limit !== request) guaranteed = false;
    }
  }
  if (!anything) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
