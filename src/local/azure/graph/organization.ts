// The tenant itself.
import type { GraphCall, Handlers } from './call.ts';
import { pageAnswer } from './call.ts';

export const organizationHandlers: Handlers = {
  'GET organization': (call) => {
    const tenant = tenantOf(call);
    const verifiedDomains = [
      { name: tenant.domain, type: 'Managed', isDefault: true, isInitial: true, capabilities: '' },
    ];
    const shape = { id: tenant.id, displayName: tenant.displayName, tenantType: 'AAD', verifiedDomains };
    return pageAnswer(call, 'organization', 'organization', [shape], new Set(Object.keys(shape)));
  },
  'GET domains': (call) => {
    const shape = {
      id: tenantOf(call).domain,
      authenticationType: 'Managed',
      isDefault: true,
      isInitial: true,
      isVerified: true,
    };
    return pageAnswer(call, 'domain', 'domains', [shape], new Set(Object.keys(shape)));
  },
};

function tenantOf(call: GraphCall) {
  return call.entra.tenants.find(({ id }) => id === call.bearer.tenantId) ?? call.entra.tenants[0];
}
