// What providers and data planes are given: the cloud they are part of.
import type { Logger } from '../../../kit/log.ts';
import type { KeyedCertificate } from '../../../pki/certificate.ts';
import type { Store } from '../../../store/store.ts';
import type { Cloud } from '../cloud.ts';
import type { Access } from './access.ts';
import type { Clock } from './clock.ts';
import type { Directory } from './directory.ts';
import type { Faults } from './faults.ts';
import type { Network } from './network.ts';
import type { Provider } from './provider.ts';
import type { Resources } from './resources.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface World {
  readonly cloud: Cloud;
  readonly logger: Logger;
  readonly clock: Clock;
  /** For containers of a provider's own: secrets of vaults, blobs, manifests. Their names start with the provider's folder. */
  readonly store: Store;
  readonly resources: Resources;
  readonly subscriptions: Subscriptions;
  /** The namespaces of the cloud. */
  readonly providers: readonly Provider[];
  readonly directory: Directory;
  readonly access: Access;
  readonly faults: Faults;
  readonly network: Network;
  /** A directory for contents too large for the store, each provider's in a folder of its own; everything is in the store without it. */
  readonly files?: string;
  /** Signs for all names of the cloud, and for issuers that are asked for certificates; clients of the cloud trust it. */
  readonly authority?: KeyedCertificate;
  /** Fires when the cloud stops. */
  readonly stopping: AbortSignal;
}
