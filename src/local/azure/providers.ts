// The provider namespaces of this cloud. A namespace is a folder beside this file; one line here makes it part of the cloud. What the
// data planes consist of is loaded when one is first asked for, since most clouds never use most of them.
import { authorizationProvider } from './authorization/provider.ts';
import { cdnProvider } from './cdn/provider.ts';
import type { DataPlane } from './cloud.ts';
import { computeProvider } from './compute/provider.ts';
import { containerRegistryProvider } from './container-registry/provider.ts';
import { containerServiceProvider } from './container-service/provider.ts';
import { deploymentsProvider } from './deployments/deployments.ts';
import { documentDbProvider } from './document-db/provider.ts';
import { eventGridProvider } from './event-grid/provider.ts';
import { preflightByProviders } from './front-door/front-door.ts';
import type { DataPlaneService } from './kernel/data-plane.ts';
import type { Provider } from './kernel/provider.ts';
import { keyVaultProvider } from './key-vault/provider.ts';
import { managedIdentityProvider } from './managed-identity/provider.ts';
import { networkProvider } from './network/provider.ts';
import { postgresqlProvider } from './postgresql/provider.ts';
import { quotaProvider } from './quota/provider.ts';
import { resourcesProviders } from './resources-provider/provider.ts';
import { storageProvider } from './storage/provider.ts';

export const providers: readonly Provider[] = [
  ...resourcesProviders,
  authorizationProvider,
  managedIdentityProvider(),
  deploymentsProvider({ preflight: preflightByProviders }),
  networkProvider,
  computeProvider,
  quotaProvider,
  keyVaultProvider,
  storageProvider,
  containerRegistryProvider,
  cdnProvider,
  containerServiceProvider,
  eventGridProvider,
  postgresqlProvider,
  documentDbProvider,
];

/** Services with host names of their own. */
export const dataPlanes: readonly DataPlaneService[] = [
  lazyPlane('authorization', async () => (await import('./authorization/check-access.ts')).decisionPoint),
  lazyPlane('vault', async () => (await import('./key-vault/plane.ts')).vaultPlane),
  lazyPlane('blob', async () => (await import('./storage/plane.ts')).blobPlane),
  lazyPlane('web', async () => (await import('./storage/web.ts')).webPlane),
  lazyPlane('registry', async () => (await import('./container-registry/plane.ts')).registryPlane),
  lazyPlane('frontDoor', async () => (await import('./cdn/plane.ts')).frontDoorPlane),
  lazyPlane('clusterIssuer', async () => (await import('./container-service/issuer-plane.ts')).clusterIssuerPlane),
];

function lazyPlane(plane: DataPlane, load: () => Promise<DataPlaneService>): DataPlaneService {
  return {
    plane,
    async routes(app, world) {
      await (await load()).routes(app, world);
    },
  };
}
