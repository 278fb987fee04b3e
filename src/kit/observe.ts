// What is seen of every HTTP request of a service: its span, in the caller's trace, and its place in the histogram.
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { httpRequestHistogram, type Metrics } from './metrics.ts';
import { traceFromHttp, withTrace } from './tracing.ts';

/**
 * Makes an app's requests visible. Call it before routes are added. Handlers run in the caller's trace context, so outgoing
 * calls that use `traceIntoHttp` and its siblings go on with it, whether or not spans are exported.
 */
export function observeRequests(app: FastifyInstance, metrics: Metrics): void {
  const observe = httpRequestHistogram(metrics);
  const tracer = trace.getTracer('aro');

  app.addHook('onRequest', (request, reply, done) => {
    const parent = traceFromHttp(request.headers);
    const span = tracer.startSpan(`HTTP ${request.method}`, { kind: SpanKind.SERVER }, parent);
    reply.raw.once('close', () => {
      const route = request.routeOptions.url;
      const status = reply.raw.statusCode;
      observe({ method: request.method, route, status, seconds: reply.elapsedTime / 1000 });
      if (route !== undefined) span.setAttribute('http.route', route);
      span.setAttributes({ 'http.request.method': request.method, 'http.response.status_code': status });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    withTrace(trace.setSpan(parent, span), done);
  });
}
