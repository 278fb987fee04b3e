import { createHash } from 'node:crypto';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Turns what the code has at hand into one of a bounded set of label values. */
export type LabelBound = (value: string) => string;

/** Every label of a metric and how its values are bounded. */
export type LabelBounds<Label extends string> = Readonly<Record<Label, LabelBound>>;

type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

export interface MetricOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: LabelBounds<Label>;
}

export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Upper bounds in the metric's unit; seconds from 5 ms to 60 s unless given. */
  readonly buckets?: readonly number[];
}

/** The metrics of one service. A label of any of them takes only bounded values, whatever the code passes. */
export interface Metrics {
  /** For what reads the metrics; what writes them uses the functions below. */
  readonly registry: Registry;
  counter<Label extends string>(options: MetricOptions<Label>): (labels: LabelValues<Label>, by?: number) => void;
  gauge<Label extends string>(options: MetricOptions<Label>): (labels: LabelValues<Label>, value: number) => void;
  histogram<Label extends string>(
    options: HistogramOptions<Label>,
  ): (labels: LabelValues<Label>, value: number) => void;
  /** Prometheus' text and its content type. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** `processMetrics` adds memory, CPU, event loop and garbage collection of this process; once per process is enough. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: registry });
  const registers = [registry];

  return {
    registry,
    counter({ name, help, labels }) {
      const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers });
      return (values, by = 1) => counter.inc(bound(labels, values), by);
    },
    gauge({ name, help, labels }) {
      const gauge = new Gauge({ name, help, labelNames: Object.keys(labels), registers });
      return (values, value) => gauge.set(bound(labels, values), value);
    },
    histogram({ name, help, labels, buckets = secondsBuckets }) {
      const histogram = new Histogram({
        name,
        help,
        labelNames: Object.keys(labels),
        buckets: [...buckets],
        registers,
      });
      return (values, value) => histogram.observe(bound(labels, values), value);
    },
    async scrape() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** A label that takes these values; anything else is `other`. */
export function oneOf(allowed: Iterable<string>): LabelBound {
  const set = new Set(allowed);
  return (value) => (set.has(value) ? value : 'other');
}

/** What may stand in a label as it is: a name the code chose, such as a route pattern, not text a caller sent. */
const nameForm = /^[A-Za-z0-9_.:/{}*@-]{1,128}$/;
const otherBuckets = 4;

/**
 * A label for names that the code knows but does not list, such as route patterns: the first `limit` distinct names are
 * kept. Those after them share `other-0` to `other-3`, each name always in the same one, so that a change in one of
 * them still shows. Text that does not look like a name is `other`.
 */
export function atMost(limit: number): LabelBound {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (!nameForm.test(value)) return 'other';
    if (seen.size < limit) {
      seen.add(value);
      return value;
    }
    return `other-${(createHash('sha256').update(value).digest()[0] ?? 0) % otherBuckets}`;
  };
}

/** HTTP status as `200`, for what reports single codes. */
export const statusCode: LabelBound = (value) => (/^[1-5][0-9]{2}$/.test(value) ? value : 'other');

/** HTTP status as `2xx`, where single codes would be too many series. */
export const statusClass: LabelBound = (value) => (/^[1-5][0-9]{2}$/.test(value) ? `${value[0]}xx` : 'other');

const httpMethods = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS'] as const;

/** One request that has been answered. */
export interface HttpObservation {
  readonly method: string;
  /** The route's pattern, never the path that was asked for; undefined when no route matched. */
  readonly route: string | undefined;
  readonly status: number;
  readonly seconds: number;
}

export interface HttpMetricOptions {
  /** `http_request_duration_seconds` unless given. */
  readonly name?: string;
  readonly status?: LabelBound;
  /** How many distinct routes are told apart. */
  readonly routes?: number;
}

/** A histogram of answered HTTP requests by method, route pattern and status. */
export function httpRequestHistogram(
  metrics: Metrics,
  options: HttpMetricOptions = {},
): (request: HttpObservation) => void {
  const observe = metrics.histogram({
    name: options.name ?? 'http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labels: { method: oneOf(httpMethods), route: atMost(options.routes ?? 500), status: options.status ?? statusCode },
  });
  return ({ method, route, status, seconds }) =>
    observe({ method, route: route ?? 'none', status: String(status) }, seconds);
}

function bound<Label extends string>(bounds: LabelBounds<Label>, values: LabelValues<Label>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const label in bounds) out[label] = bounds[label](values[label]);
  return out;
}
