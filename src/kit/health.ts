// `/healthz`, `/readyz` and `/metrics`, usually on a listener of their own that probes and Prometheus reach without TLS.
import { createServer } from 'node:http';
import { type FastifyPluginAsync, fastify } from 'fastify';
import { defaultLimits, type Limits, type Listener, serve, serverOptions } from './http-server.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { NotReady, Readiness } from './readiness.ts';

export interface HealthOptions {
  readonly readiness: Pick<Readiness, 'notReady'>;
  readonly metrics: Pick<Metrics, 'scrape'>;
  /** Answers are kept this long, so that many probes do not become many checks; 1 second unless given. */
  readonly cacheSeconds?: number;
  /** The clock, for tests. */
  readonly now?: () => Date;
}

/** What is not ready, why, and since when, as far as `/readyz` has been asked. */
export interface NotReadySince extends NotReady {
  readonly since: string;
}

const defaultCacheSeconds = 1;

/**
 * Adds three routes to an app:
 * - `/healthz` answers 200 as long as the process answers at all: what it depends on being down is no reason to restart it.
 * - `/readyz` answers 200, or 503 with what is not ready, why and since when. The checks' time limit is readiness.ts's.
 * - `/metrics` is Prometheus' text.
 */
export function health(options: HealthOptions): FastifyPluginAsync {
  const now = options.now ?? (() => new Date());
  const look = readyView(options.readiness, now);
  const current = cached(look, (options.cacheSeconds ?? defaultCacheSeconds) * 1000, now);

  return async (app) => {
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });
    app.get('/healthz', async () => ({ status: 'alive' }));
    app.get('/readyz', async (_request, reply) => {
      const notReady = await current();
      if (notReady.length === 0) return { status: 'ready' };
      reply.code(503);
      return { status: 'not ready', notReady };
    });
    app.get('/metrics', async (_request, reply) => {
      const { contentType, body } = await options.metrics.scrape();
      reply.type(contentType);
      return body;
    });
  };
}

export interface HealthListenerOptions extends HealthOptions {
  readonly host: string;
  readonly port: number;
  readonly limits?: Partial<Limits>;
  readonly logger?: Logger;
}

/** Serves health and metrics, and nothing else, over plain HTTP on any address. */
export async function listenHealth(options: HealthListenerOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  const app = fastify();
  app.register(health(options));
  const listener = await serve({
    server: createServer(serverOptions(limits)),
    scheme: 'http',
    app,
    host: options.host,
    port: options.port,
    limits,
    logger: options.logger,
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

/** Remembers for each check that fails when it was first seen to. */
function readyView(readiness: Pick<Readiness, 'notReady'>, now: () => Date): () => Promise<readonly NotReadySince[]> {
  let since = new Map<string, string>();
  return async () => {
    const found = await readiness.notReady();
    const seen = new Map<string, string>();
    for (const { name } of found) seen.set(name, since.get(name) ?? now().toISOString());
    since = seen;
    return found.map((each) => ({ ...each, since: seen.get(each.name) ?? '' }));
  };
}

/** Keeps an answer for a while; those who ask while one is being made wait for it. */
function cached<T>(make: () => Promise<T>, keepMs: number, now: () => Date): () => Promise<T> {
  let kept: { readonly answer: Promise<T>; readonly until: number } | undefined;
  return () => {
    const time = now().getTime();
    // A clock set back must not keep an answer for longer.
    if (kept && time < kept.until && time >= kept.until - keepMs) return kept.answer;
    const answer = make();
    kept = { answer, until: time + keepMs };
    answer.then(
      () => {
        if (kept?.answer === answer) kept = { answer, until: now().getTime() + keepMs };
      },
      () => {
        if (kept?.answer === answer) kept = undefined;
      },
    );
    return answer;
  };
}
