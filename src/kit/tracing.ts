import type { Metadata } from '@grpc/grpc-js';
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type TextMapGetter,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';

/**
 * W3C trace context (`traceparent`, `tracestate`, `baggage`) in and out of HTTP, gRPC and messages. It works whether or
 * not spans are exported (trace-export.ts): without an exporter, an incoming context is carried through to outgoing
 * calls as it came. A context that is absent or malformed counts as none; nothing here throws because of what a peer sent.
 */
const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
});

/** Values of headers or message properties; a list where a key was given more than once. */
export type Carrier = Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** Sampled and random: the flags that have a meaning today. Others are not to be passed on. */
const knownFlags = 0x03;

const fromRecord: TextMapGetter<Carrier> = {
  keys: (carrier) => Object.keys(carrier),
  get: (carrier, key) => {
    const value = Object.hasOwn(carrier, key) ? carrier[key] : undefined;
    if (value === undefined || typeof value === 'number') return undefined;
    return typeof value === 'string' ? value : joined(value);
  },
};

const fromMetadata: TextMapGetter<Metadata> = {
  keys: (carrier) => Object.keys(carrier.getMap()),
  get: (carrier, key) => joined(carrier.get(key).filter((value) => typeof value === 'string')),
};

const intoRecord: TextMapSetter<Record<string, unknown>> = {
  set: (carrier, key, value) => {
    carrier[key] = value;
  },
};

const intoMetadata: TextMapSetter<Metadata> = {
  set: (carrier, key, value) => carrier.set(key, value),
};

/** The trace context of an incoming request; hand it to {@link withTrace} or as `parent` to {@link withSpan}. */
export function traceFromHttp(headers: Carrier): Context {
  return extract(headers, fromRecord);
}

/** Adds the active trace context to the headers of an outgoing request and returns them. */
export function traceIntoHttp<Headers extends Record<string, unknown>>(headers: Headers): Headers {
  propagator.inject(context.active(), headers, intoRecord);
  return headers;
}

export function traceFromGrpc(metadata: Metadata): Context {
  return extract(metadata, fromMetadata);
}

export function traceIntoGrpc(metadata: Metadata): Metadata {
  propagator.inject(context.active(), metadata, intoMetadata);
  return metadata;
}

/** For a message's properties, such as MQTT 5 user properties; a key given more than once is a list. */
export function traceFromMessage(properties: Carrier): Context {
  return extract(properties, fromRecord);
}

export function traceIntoMessage<Properties extends Record<string, unknown>>(properties: Properties): Properties {
  propagator.inject(context.active(), properties, intoRecord);
  return properties;
}

/** Runs `fn`, and everything asynchronous that it starts, in a trace context. */
export function withTrace<T>(parent: Context, fn: () => T): T {
  carryContexts();
  return context.with(parent, fn);
}

export interface WithSpanOptions extends SpanOptions {
  /** The context the span belongs to; the active one unless given. */
  readonly parent?: Context;
}

/**
 * Runs `fn` in a span of its own, which ends when `fn` has returned or its promise has settled; an error is recorded on
 * the span and passed on. Without an exporter it only runs `fn` in the parent's context.
 */
export function withSpan<T>(name: string, options: WithSpanOptions, fn: (span: Span) => T): T {
  carryContexts();
  const parent = options.parent ?? context.active();
  const span = trace.getTracer('aro').startSpan(name, options, parent);
  let result: T;
  try {
    result = context.with(trace.setSpan(parent, span), () => fn(span));
  } catch (error) {
    fail(span, error);
    throw error;
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  return result.then(
    (value) => {
      span.end();
      return value;
    },
    (error: unknown) => {
      fail(span, error);
      throw error;
    },
  ) as T;
}

let carried = false;

/** Lets contexts follow asynchronous work; without it they would be lost at the first `await`. */
function carryContexts(): void {
  if (carried) return;
  carried = true;
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

function extract<C>(carrier: C, getter: TextMapGetter<C>): Context {
  const found = propagator.extract(ROOT_CONTEXT, carrier, getter);
  const span = trace.getSpanContext(found);
  if (!span || span.traceFlags <= knownFlags) return found;
  return trace.setSpanContext(found, { ...span, traceFlags: span.traceFlags & knownFlags });
}

/** As HTTP joins repeated fields. Two parents contradict each other; joined they are malformed, and so count as none. */
function joined(values: readonly string[]): string | undefined {
  return values.length === 0 ? undefined : values.join(',');
}

function fail(span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  span.recordException(error instanceof Error ? error : message);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
  span.end();
}
