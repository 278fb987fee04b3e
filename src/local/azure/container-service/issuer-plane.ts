// Where the issuers of clusters' service-account tokens are described: `<location>.oic.prod-aks.<suffix>/<tenant>/<id>/`.
import type { FastifyReply } from 'fastify';
import type { HostedCluster } from '../../kubernetes/clusters.ts';
import type { DataPlaneService } from '../kernel/data-plane.ts';
import { startedHost } from './cluster-host.ts';

/** Anybody may read these: they hold public keys. */
export const clusterIssuerPlane: DataPlaneService = {
  plane: 'clusterIssuer',
  routes(app, world) {
    const find = async (params: unknown): Promise<HostedCluster | undefined> => {
      const { tenant, id } = params as { readonly tenant: string; readonly id: string };
      if (tenant.toLowerCase() !== world.directory.tenantId) return undefined;
      return (await startedHost(world))?.byIssuer(id);
    };
    const missing = (reply: FastifyReply) => reply.code(404).type('text/plain').send('There is no such issuer.\n');

    app.get('/:tenant/:id/.well-known/openid-configuration', async (request, reply) => {
      const cluster = await find(request.params);
      if (!cluster) return missing(reply);
      const { issuer } = cluster.access.tokens;
      return {
        issuer,
        jwks_uri: `${issuer}openid/v1/jwks`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
      };
    });
    app.get('/:tenant/:id/openid/v1/jwks', async (request, reply) => {
      const cluster = await find(request.params);
      if (!cluster) return missing(reply);
      return reply.type('application/jwk-set+json').send(JSON.stringify(await cluster.access.tokens.keySet()));
    });
    app.setNotFoundHandler((_request, reply) => missing(reply));
  },
};
