import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { createLogger } from './log.ts';
import { startTracing } from './trace-export.ts';
import {
  traceFromGrpc,
  traceFromHttp,
  traceFromMessage,
  traceIntoGrpc,
  traceIntoHttp,
  traceIntoMessage,
  withSpan,
  withTrace,
} from './tracing.ts';

delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
delete process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const tracestate = 'vendor=value';
const baggage = 'tenant=contoso';
const incoming = { traceparent, tracestate, baggage };

const bytes = (value: Buffer): Buffer => value;
const method = {
  path: '/test.Echo/Call',
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
} as const;

describe('a trace context, with nothing exported', () => {
  it('passes through a service from an HTTP request to the HTTP request it makes', async (t) => {
    const last = await httpServer(t, async () => {});
    const middle = await httpServer(t, async () => {
      await sleep(1);
      await get(last.url, traceIntoHttp({ accept: 'text/plain' }));
    });
    await get(middle.url, incoming);
    const seen = last.seen.at(-1);
    assert.equal(seen?.accept, 'text/plain');
    assert.equal(seen?.traceparent, traceparent);
    assert.equal(seen?.tracestate, tracestate);
    assert.equal(seen?.baggage, baggage);
  });

  it('passes through a service from a gRPC call to the gRPC call it makes', async (t) => {
    const last = await grpcServer(t, async () => {});
    const middle = await grpcServer(t, async () => {
      await sleep(1);
      await call(last.address, traceIntoGrpc(new Metadata()));
    });
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(incoming)) metadata.set(key, value);
    await call(middle.address, metadata);
    assert.deepEqual(last.seen.at(-1)?.get('traceparent'), [traceparent]);
    assert.deepEqual(last.seen.at(-1)?.get('tracestate'), [tracestate]);
    assert.deepEqual(last.seen.at(-1)?.get('baggage'), [baggage]);
  });

  it('passes from the properties of one message to those of another', async () => {
    const outgoing = await withTrace(traceFromMessage({ ...incoming, other: ['a', 'b'] }), async () => {
      await sleep(1);
      return traceIntoMessage<Record<string, unknown>>({ kept: ['x', 'y'] });
    });
    assert.deepEqual(outgoing, { kept: ['x', 'y'], ...incoming });
  });

  it('joins tracestate and baggage that a message carries more than once', () => {
    const outgoing = withTrace(
      traceFromMessage({ traceparent, tracestate: ['a=1', 'b=2'], baggage: ['x=1', 'y=2'] }),
      () => traceIntoMessage<Record<string, unknown>>({}),
    );
    assert.deepEqual(outgoing, { traceparent, tracestate: 'a=1,b=2', baggage: 'x=1,y=2' });
  });

  it('keeps requests that run at the same time apart', async () => {
    const ids = Array.from({ length: 50 }, (_, n) => n.toString(16).padStart(32, 'a'));
    const out = await Promise.all(
      ids.map((id, n) =>
        withTrace(traceFromHttp({ traceparent: `00-${id}-b7ad6b7169203331-01` }), async () => {
          await sleep(n % 7);
          return trace.getActiveSpan()?.spanContext().traceId;
        }),
      ),
    );
    assert.deepEqual(out, ids);
  });

  it('is none when it is absent, malformed or contradicts itself, and nothing throws', () => {
    const bad: Record<string, string | string[]>[] = [
      {},
      { traceparent: '' },
      { traceparent: 'x'.repeat(100_000) },
      { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` },
      { traceparent: `00-${traceId}-${'0'.repeat(16)}-01` },
      { traceparent: `ff-${traceId}-b7ad6b7169203331-01` },
      { traceparent: `${traceparent}-extra` },
      { traceparent: `${traceparent}, ${traceparent}` },
      { traceparent: [traceparent, traceparent] },
      { traceparent: [] },
      { tracestate: '=,=,\u0000' },
      { baggage: '%%%,=;=;,' },
      { baggage: `a=${'%'.repeat(9000)}` },
    ];
    for (const headers of bad) {
      const found = traceFromHttp(headers);
      assert.equal(trace.getSpanContext(found), undefined, JSON.stringify(headers).slice(0, 100));
      assert.equal(withTrace(found, () => traceIntoHttp<Record<string, unknown>>({})).traceparent, undefined);
    }
    assert.equal(propagation.getBaggage(traceFromHttp({ baggage: '%%%' })), undefined);
  });

  it('keeps its trace when only tracestate is malformed', () => {
    const out = withTrace(traceFromHttp({ traceparent, tracestate: '===,,\u0001' }), () =>
      traceIntoHttp<Record<string, unknown>>({}),
    );
    assert.equal(out.traceparent, traceparent);
  });

  it('does not pass on flags whose meaning is not known', () => {
    const out = withTrace(traceFromHttp({ traceparent: `00-${traceId}-b7ad6b7169203331-ff` }), () =>
      traceIntoHttp<Record<string, unknown>>({}),
    );
    assert.equal(out.traceparent, `00-${traceId}-b7ad6b7169203331-03`);
  });

  it('stands on the lines that are logged within it', () => {
    const lines: string[] = [];
    const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
    withTrace(traceFromHttp(incoming), () => logger.info('inside'));
    logger.info('outside');
    const [inside, outside] = lines.map((line) => JSON.parse(line));
    assert.equal(inside.traceId, traceId);
    assert.equal(inside.spanId, 'b7ad6b7169203331');
    assert.equal(outside.traceId, undefined);
  });

  it('withSpan returns what its function returns and throws what it throws', async () => {
    assert.equal(
      withSpan('sync', {}, () => 1),
      1,
    );
    assert.equal(await withSpan('async', {}, async () => 2), 2);
    assert.throws(() => withSpan('sync', {}, () => assert.fail('no')), /no/);
    await assert.rejects(
      withSpan('async', {}, async () => assert.fail('no')),
      /no/,
    );
  });

  it('no endpoint means nothing is exported', async () => {
    const tracing = await startTracing({ service: 'test' });
    assert.equal(tracing.exporting, false);
    await tracing.stop();
  });

  it('an endpoint that is not a URL is refused by name', async () => {
    await assert.rejects(
      startTracing({ service: 'test', endpoint: 'collector:4318' }),
      /"collector:4318.*http or https/,
    );
  });
});

describe('exporting spans', () => {
  let collector: Awaited<ReturnType<typeof otlpCollector>>;
  before(async () => {
    collector = await otlpCollector();
  });
  after(() => collector.close());

  it('a collector receives them, in the trace the request came with', async (t) => {
    const tracing = await startTracing({ service: 'test-service', version: '1.2.3', endpoint: collector.url });
    assert.equal(tracing.exporting, true);
    const last = await httpServer(t, async () => {});
    await withSpan(
      'serve',
      { parent: traceFromHttp(incoming), kind: SpanKind.SERVER, attributes: { 'http.route': '/x' } },
      async () => {
        await sleep(1);
        await withSpan('call', { kind: SpanKind.CLIENT }, () => get(last.url, traceIntoHttp({})));
      },
    );
    await assert.rejects(
      withSpan('broken', {}, async () => assert.fail('it broke')),
      /it broke/,
    );
    await tracing.stop();

    const [serve, call, broken] = ['serve', 'call', 'broken'].map((name) =>
      collector.spans.find((span) => span.name === name),
    );
    assert.ok(serve && call && broken, `received ${collector.spans.map((span) => span.name).join(', ')}`);
    assert.equal(serve.traceId, traceId);
    assert.equal(serve.parentSpanId, 'b7ad6b7169203331');
    assert.equal(call.traceId, traceId);
    assert.equal(call.parentSpanId, serve.spanId);
    assert.equal(last.seen.at(-1)?.traceparent, `00-${traceId}-${call.spanId}-01`);
    assert.equal(last.seen.at(-1)?.tracestate, tracestate);
    assert.notEqual(broken.traceId, traceId);
    assert.equal(broken.status?.message, 'it broke');
    assert.deepEqual(collector.resource('service.name'), 'test-service');
    assert.deepEqual(collector.resource('service.version'), '1.2.3');
  });

  it('two services of one process share an exporter, and the last to stop ends it', async () => {
    collector.spans.length = 0;
    const [first, second] = await Promise.all([
      startTracing({ service: 'a', endpoint: collector.url }),
      startTracing({ service: 'b', endpoint: collector.url }),
    ]);
    await first.stop();
    await first.stop();
    withSpan('after the first stopped', {}, () => {});
    await second.stop();
    withSpan('after both stopped', {}, () => {});
    assert.deepEqual(
      collector.spans.map((span) => span.name),
      ['after the first stopped'],
    );
  });

  it('a collector that is away is logged, and stopping still ends', async () => {
    const lines: string[] = [];
    const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const tracing = await startTracing({ service: 'test', endpoint: `http://127.0.0.1:${port}`, logger });
    withSpan('lost', {}, () => {});
    await tracing.stop();
    assert.match(lines.join(''), /spans could not be exported/);
  });

  it('a context outlives the exporter', () => {
    assert.equal(
      context.with(traceFromHttp(incoming), () => trace.getActiveSpan()?.spanContext().traceId),
      traceId,
    );
  });
});

/** Stopped by the test's `after`: early releases of Node 24 forget an `await using` that a closure uses as well. */
async function httpServer(t: TestContext, handler: () => Promise<void>) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((req, res) => {
    seen.push(req.headers);
    withTrace(traceFromHttp(req.headers), handler).then(
      () => res.end(),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
}

async function get(url: string, headers: Record<string, string>): Promise<void> {
  const req = request(url, { headers, agent: false }).end();
  const [res] = await once(req, 'response');
  res.resume();
  await once(res, 'end');
  assert.equal(res.statusCode, 200);
}

async function grpcServer(t: TestContext, handler: () => Promise<void>) {
  const seen: Metadata[] = [];
  const server = new Server();
  server.addService(
    { call: method },
    {
      call: (unary: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
        seen.push(unary.metadata);
        withTrace(traceFromGrpc(unary.metadata), handler).then(
          () => callback(null, unary.request),
          (error: Error) => callback(error),
        );
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  t.after(() => server.forceShutdown());
  return {
    seen,
    address: `127.0.0.1:${port}`,
  };
}

async function call(address: string, metadata: Metadata): Promise<void> {
  const client = new Client(address, credentials.createInsecure());
  try {
    await new Promise<void>((resolve, reject) =>
      client.makeUnaryRequest(method.path, bytes, bytes, Buffer.from('x'), metadata, (error) =>
        error ? reject(error) : resolve(),
      ),
    );
  } finally {
    client.close();
  }
}

interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly message?: string };
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** The receiving end of OTLP over HTTP with JSON. */
async function otlpCollector() {
  const spans: ReceivedSpan[] = [];
  const resource = new Map<string, string | undefined>();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    if (req.method !== 'POST' || req.url !== '/v1/traces') {
      res.writeHead(404).end();
      return;
    }
    const body: ExportRequest = JSON.parse(Buffer.concat(chunks).toString());
    for (const { resource: from, scopeSpans } of body.resourceSpans) {
      for (const { key, value } of from.attributes) resource.set(key, value.stringValue);
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    res.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    spans,
    resource: (key: string) => resource.get(key),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
