// A service made of everything the kit has, the way real ones are made. docs/kit.md explains it; kit.test.ts runs it.
import { type FastifyBaseLogger, fastify } from 'fastify';
import Type, { type Static } from 'typebox';
import { decorateCaller } from '../caller.ts';
import { loadConfig } from '../config.ts';
import { secret } from '../config-schema.ts';
import { listenHealth } from '../health.ts';
import { composeService } from '../lifecycle.ts';
import { listen } from '../listener.ts';
import { createLogger } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { observeRequests } from '../observe.ts';
import { listenPlain } from '../plain-listener.ts';
import { runService } from '../run-service.ts';
import type { Running } from '../service.ts';
import { startTracing } from '../trace-export.ts';
import { traceIntoHttp } from '../tracing.ts';

const configSchema = Type.Object({
  listen: Type.Object({
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 0, description: 'Port of the HTTPS listener' }),
    certificate: Type.String({ description: 'PEM file of the server certificate' }),
    key: Type.String({ description: 'PEM file of its key' }),
    clientAuthorities: Type.String({ description: 'PEM file of the authorities of client certificates' }),
    client: Type.String({ description: 'Common name of the one client that is served' }),
  }),
  greeting: secret({ description: 'What the service keeps to itself' }),
});

const logger = createLogger({ service: 'example' });

async function start(config: Static<typeof configSchema>): Promise<Running> {
  return composeService({ name: 'example', logger, graceSeconds: 5 }, async (parts) => {
    const metrics = createMetrics();
    await parts.part('traces', () => startTracing({ service: 'example' }));

    const app = fastify({ loggerInstance: logger as FastifyBaseLogger, disableRequestLogging: true });
    decorateCaller(app);
    observeRequests(app, metrics);
    app.get('/who', async (request) => {
      logger.info({ greeting: config.greeting }, 'asked who');
      return { caller: request.caller.kind, outgoing: traceIntoHttp({}) };
    });
    app.get('/admin/keys', async () => ({ keys: 'not for everybody' }));
    await parts.part(
      'app',
      async () => app,
      (it) => it.close(),
    );

    const { port, certificate, key, clientAuthorities, client } = config.listen;
    const https = await parts.part(
      'https',
      () =>
        listen(app, {
          host: '127.0.0.1',
          port,
          certificate,
          key,
          clients: {
            authorities: clientAuthorities,
            unauthenticated: 401,
            allow: [{ of: 'commonName', exact: client }],
          },
          logger,
        }),
      (listener, graceOver) => listener.stop(graceOver),
    );
    parts.address('https', https.url);

    const plain = await parts.part(
      'plain',
      () => listenPlain(app, { port: 0, logger }),
      (listener, graceOver) => listener.stop(graceOver),
    );
    parts.address('plain', plain.url);

    const health = await parts.part(
      'health',
      () => listenHealth({ host: '127.0.0.1', port: 0, readiness: parts.readiness, metrics, logger }),
      (listener, graceOver) => listener.stop(graceOver),
    );
    parts.address('health', health.url);
  });
}

const config = loadConfig(configSchema, { flags: process.argv.slice(2), env: process.env });
await runService(start, config, {
  name: 'example',
  logger,
  graceSeconds: 5,
  onReady: ({ addresses }) => logger.info({ addresses }, 'ready'),
});
