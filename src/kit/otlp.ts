// The OpenTelemetry SDK and its exporter. They cost memory and start-up time, so trace-export.ts loads this file only when
// spans are to be exported.
import { trace } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingOptions } from './trace-export.ts';

const stopMs = 5000;
/** A collector that is away would otherwise be reported with every batch. */
const reportEveryMs = 60_000;

/** Makes every span of the process go to `url` until stopped. */
export function beginExport(url: string, options: TracingOptions): { stop(): Promise<void> } {
  const { logger, service, version } = options;
  let reported = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((err) => {
    if (performance.now() - reported < reportEveryMs) return;
    reported = performance.now();
    logger?.warn({ err, url }, 'spans could not be exported');
  });

  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': service,
        ...(version === undefined ? {} : { 'service.version': version }),
      }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio ?? 1) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url, timeoutMillis: stopMs }),
        scheduledDelayMillis: (options.sendSeconds ?? 5) * 1000,
        exportTimeoutMillis: stopMs,
      }),
    ],
  });
  trace.setGlobalTracerProvider(provider);

  return {
    async stop() {
      trace.disable();
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, stopMs);
      });
      const shutdown = provider.shutdown().catch((err: unknown) => {
        logger?.warn({ err, url }, 'the last spans could not be exported');
      });
      await Promise.race([shutdown, enough]);
      clearTimeout(timer);
    },
  };
}
