// The hosts of Front Door endpoints.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toWire } from '../../../arm/error-wire.ts';
import { ArmError } from '../../../arm/errors.ts';
import type { DataPlaneService } from '../kernel/data-plane.ts';
import { loseAnswer, planeFaults } from '../kernel/plane-faults.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { edgeOf, NoOrigin } from './edge.ts';
import { endpointType, isValidated } from './provider.ts';

const domainType = 'Microsoft.Cdn/profiles/customDomains';
const routeType = 'Microsoft.Cdn/profiles/afdEndpoints/routes';

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS'] as const;

export const frontDoorPlane: DataPlaneService = {
  plane: 'frontDoor',
  routes(app, world) {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    app.setErrorHandler((error, request, reply) => {
      if (error instanceof NoOrigin) return page(request, reply, 503, "Our services aren't available right now");
      const wire = toWire(error, { requestId: request.id, conditional: false }, { bodyTooLargeStatus: 413 });
      if (wire.hidden) request.log.error({ err: error, requestId: request.id }, 'a request to an endpoint failed');
      return page(request, reply.headers(wire.headers), wire.status, wire.body.error.code);
    });
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      await planeFaults(world, request, reply);
      reply.header('x-azure-ref', request.id);
      const asked = request.planeName === '' ? await byDomain(world, request.hostname) : undefined;
      if (request.planeName === '' && asked === undefined)
        throw new ArmError(421, 'InvalidHost', 'No service of this cloud has this host name.');
      const endpoint = asked?.endpoint ?? (await world.resources.named(endpointType, request.planeName))?.body;
      if (endpoint === undefined || endpoint.resource.properties?.enabledState === 'Disabled')
        return page(request, reply, 404, 'Page not found');
      const passed = {
        method: request.method,
        url: request.raw.url ?? '/',
        host: request.host,
        headers: request.headers,
        body: request.body as AsyncIterable<Buffer> | undefined,
      };
      const answer = await edgeOf(world).serve(endpoint, passed, asked?.domain);
      if (loseAnswer(request, reply)) return reply;
      if (answer === undefined) return page(request, reply, 404, 'Page not found');
      reply.code(answer.status).headers(answer.headers);
      if (request.method === 'HEAD' || answer.body === undefined) {
        if (answer.body !== undefined && !Buffer.isBuffer(answer.body)) for await (const _chunk of answer.body);
        return reply.send();
      }
      return reply.send(Buffer.isBuffer(answer.body) ? answer.body : Readable.from(answer.body, { objectMode: false }));
    };
    for (const url of ['/', '/*']) app.route({ method: [...methods], url, handler });
  },
};

/** The custom domain of this name, once its owner has shown that it is theirs, and an endpoint with a route for it. */
async function byDomain(
  world: World,
  host: string,
): Promise<{ readonly domain: string; readonly endpoint: ResourceRecord } | undefined> {
  const wanted = host.toLowerCase();
  for (const { resource } of await world.resources.list({ type: domainType })) {
    const { properties = {}, id } = resource;
    if (properties.hostName !== wanted || !(await isValidated(world, properties))) continue;
    const [route] = await world.resources.list({ referencing: id, type: routeType });
    const endpoint = route?.parent === undefined ? undefined : await world.resources.read(route.parent);
    if (endpoint !== undefined) return { domain: id, endpoint: endpoint.body };
  }
  return undefined;
}

function page(request: FastifyRequest, reply: FastifyReply, status: number, title: string): FastifyReply {
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  const text = `<!DOCTYPE html><html><head><title>${title}</title></head><body><h2>${title}</h2><p>${request.id}</p></body></html>`;
  return reply
    .code(status)
    .type('text/html')
    .send(request.method === 'HEAD' ? undefined : text);
}
