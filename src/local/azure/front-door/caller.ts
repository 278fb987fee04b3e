// Who Resource Manager is when it asks by itself, and who writes down what a provider said.
import type { CallerIdentity } from '../kernel/provider.ts';

const reflected: unique symbol = Symbol('reflected');

interface Marked {
  readonly [reflected]?: true;
}

/** The same caller; a write with it keeps what the provider has done already, and asks the provider nothing. */
export function reflecting(caller: CallerIdentity): CallerIdentity {
  return Object.assign({ ...caller }, { [reflected]: true as const });
}

export function isReflecting(caller: CallerIdentity): boolean {
  return (caller as Marked)[reflected] === true;
}

export function platformCaller(tenantId: string, appId: string, objectId: string): CallerIdentity {
  return { tenantId, objectId, appId, kind: 'ServicePrincipal', name: 'Azure Resource Manager', groups: [] };
}
