// A service of the cloud that is reached by a host name of its own rather than through Resource Manager: vaults, blobs, registries.
import type { FastifyInstance } from 'fastify';
import type { DataPlane } from '../cloud.ts';
import type { World } from './world.ts';

export interface DataPlaneService {
  readonly plane: DataPlane;
  /**
   * Routes of the plane on an app of its own. Requests come with the plane's resource name (`myvault`) as `request.planeName`. Errors go
   * to the wire in the service's own form: set the error handler here. Bodies reach handlers as the service wants them.
   */
  routes(app: FastifyInstance, world: World): void | Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The first label of the host name, lower case: the vault, account or registry. Empty on other hosts. */
    planeName: string;
  }
}
