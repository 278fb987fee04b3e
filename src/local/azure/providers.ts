// The provider namespaces of this cloud. A namespace is a folder beside this file; one line here makes it part of the cloud.
import { decisionPoint } from './authorization/check-access.ts';
import { authorizationProvider } from './authorization/provider.ts';
import { computeProvider } from './compute/provider.ts';
import { clusterIssuerPlane } from './container-service/issuer-plane.ts';
import { containerServiceProvider } from './container-service/provider.ts';
import { frontDoorPlane } from './cdn/plane.ts';
import { cdnProvider } from './cdn/provider.ts';
import { registryPlane } from './container-registry/plane.ts';
import { containerRegistryProvider } from './container-registry/provider.ts';
import { deploymentsProvider } from './deployments/deployments.ts';
import { documentDbProvider } from './document-db/provider.ts';
import { eventGridProvider } from './event-grid/provider.ts';
import { preflightByProviders } from './front-door/front-door.ts';
import type { DataPlaneService } from './kernel/data-plane.ts';
import type { Provider } from './kernel/provider.ts';
import { vaultPlane } from './key-vault/plane.ts';
import { keyVaultProvider } from './key-vault/provider.ts';
import { managedIdentityProvider } from './managed-identity/provider.ts';
import { networkProvider } from './network/provider.ts';
import { postgresqlProvider } from './postgresql/provider.ts';
import { quotaProvider } from './quota/provider.ts';
import { resourcesProviders } from './resources-provider/provider.ts';
import { blobPlane } from './storage/plane.ts';
import { storageProvider } from './storage/provider.ts';
import { webPlane } from './storage/web.ts';

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
  decisionPoint,
  vaultPlane,
  blobPlane,
  webPlane,
  registryPlane,
  frontDoorPlane,
  clusterIssuerPlane,
];
