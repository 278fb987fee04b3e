import type { Logger } from './log.ts';

export interface TracingOptions {
  /** Stands on every span as `service.name`. */
  readonly service: string;
  readonly version?: string;
  /**
   * Where a collector takes OTLP over HTTP, without the path: `http://127.0.0.1:4318`. Unless given,
   * `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` (that one with its path) is used; with none of
   * them nothing is exported and the SDK is not loaded.
   */
  readonly endpoint?: string;
  /** The share of traces begun here that is kept, 0 to 1; 1 unless given. A trace begun elsewhere follows its parent. */
  readonly sampleRatio?: number;
  readonly logger?: Logger;
  /** Finished spans are sent this often; 5 seconds unless given. */
  readonly sendSeconds?: number;
}

export interface Tracing {
  readonly exporting: boolean;
  /** Sends what is left, for at most five seconds, and ends exporting. Never rejects. */
  stop(): Promise<void>;
}

/** The process's exporter and how many services use it. */
let shared: { users: number; readonly export: Promise<{ stop(): Promise<void> }> } | undefined;

/**
 * Begins exporting spans. One exporter serves a process: where several services run in one, the first to call decides
 * the endpoint and the service name, and the last to stop ends it. Rejects when the endpoint is not a URL; a collector
 * that does not answer is logged and costs spans, nothing else.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const url = tracesUrl(options.endpoint);
  if (url === undefined) return { exporting: false, stop: async () => {} };
  shared ??= { users: 0, export: import('./otlp.ts').then((otlp) => otlp.beginExport(url, options)) };
  const mine = shared;
  mine.users++;
  const underWay = await mine.export;
  let stopped: Promise<void> | undefined;
  return {
    exporting: true,
    stop() {
      stopped ??= (async () => {
        mine.users--;
        if (mine.users > 0) return;
        if (shared === mine) shared = undefined;
        await underWay.stop();
      })();
      return stopped;
    },
  };
}

function tracesUrl(endpoint: string | undefined): string | undefined {
  const base = endpoint || process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const full = endpoint ? undefined : process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const text = full || (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (!text) return undefined;
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError(`the trace endpoint ${JSON.stringify(text)} is not an http or https URL`);
  }
  return url.href;
}
