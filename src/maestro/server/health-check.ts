// `/healthcheck` and `/livez`, as probes of a Maestro server ask for them.
import { createServer } from 'node:http';
import { fastify } from 'fastify';
import { defaultLimits, type Listener, serve, serverOptions } from '../../kit/http-server.ts';
import type { Logger } from '../../kit/log.ts';
import type { Readiness } from '../../kit/readiness.ts';

export interface HealthCheckOptions {
  readonly host: string;
  readonly port: number;
  readonly readiness: Pick<Readiness, 'notReady'>;
  readonly logger: Logger;
}

export async function listenHealthCheck({ host, port, readiness, logger }: HealthCheckOptions): Promise<Listener> {
  const app = fastify();
  app.get('/healthcheck', async (_request, reply) => {
    const isReady = (await readiness.notReady()).length === 0;
    reply.code(isReady ? 200 : 503).header('cache-control', 'no-store');
    return { status: isReady ? 'ok' : 'not ready' };
  });
  app.get('/livez', async () => ({ status: 'ok' }));
  const listener = await serve({
    server: createServer(serverOptions(defaultLimits)),
    scheme: 'http',
    app,
    host,
    port,
    limits: defaultLimits,
    logger,
    guard: () => ({ caller: { kind: 'anonymous' } }),
  });
  return {
    ...listener,
    async stop(graceOver) {
      await listener.stop(graceOver);
      await app.close();
    },
  };
}
