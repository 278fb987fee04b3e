// Microsoft.Resources and its neighbours: what Resource Manager itself answers. Resource groups as such are the kernel's.
import type { ArmRoute } from '../arm/routes.ts';
import type { Provider } from '../kernel/provider.ts';
import { featureRoutes } from './feature-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { locks } from './locks.ts';
import { providerRoutes } from './provider-routes.ts';
import { subscriptionRoutes } from './subscription-routes.ts';
import { tagRoutes } from './tag-routes.ts';

export const resourcesProviders: readonly Provider[] = [
  { namespace: 'Microsoft.Resources', alwaysRegistered: true, types: [] },
  { namespace: 'Microsoft.Features', alwaysRegistered: true, types: [] },
  { namespace: 'Microsoft.Authorization', alwaysRegistered: true, types: [locks] },
];

/** Paths of Resource Manager's own. */
export const ownRoutes: readonly ArmRoute[] = [
  ...subscriptionRoutes,
  ...groupRoutes,
  ...tagRoutes,
  ...featureRoutes,
  ...providerRoutes,
];
