// A trace goes through a real broker: MQTT 5 user properties carry the W3C trace context.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, trace } from '@opentelemetry/api';
import { connectAsync, type IPublishPacket } from 'mqtt';
import { traceFromHttp, traceFromMessage, traceIntoMessage, withTrace } from '../../../src/kit/tracing.ts';
import { needs } from '../../peers.ts';

test('a message through Mosquitto carries the trace it was published in', async (t) => {
  const mosquitto = needs(t, 'mosquitto');
  if (!mosquitto) return;
  const url = await startBroker(t, mosquitto);
  const receiver = await connectAsync(url, { protocolVersion: 5 });
  t.after(() => receiver.endAsync(true));
  const sender = await connectAsync(url, { protocolVersion: 5 });
  t.after(() => sender.endAsync(true));
  await receiver.subscribeAsync('aro/test', { qos: 1 });
  const received = new Promise<{ readonly payload: Buffer; readonly packet: IPublishPacket }>((resolve) => {
    receiver.once('message', (_, payload, packet) => resolve({ payload, packet }));
  });

  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const incoming = traceFromHttp({ traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=value' });
  await withTrace(incoming, () =>
    sender.publishAsync('aro/test', 'hello', {
      qos: 1,
      properties: { userProperties: traceIntoMessage<Record<string, string>>({ kept: 'yes' }) },
    }),
  );

  const { payload, packet } = await received;
  assert.equal(String(payload), 'hello');
  const properties = { ...packet.properties?.userProperties };
  assert.equal(properties.kept, 'yes');
  withTrace(traceFromMessage(properties), () => {
    const span = trace.getSpanContext(context.active());
    assert.equal(span?.traceId, traceId);
    assert.equal(span?.traceState?.get('vendor'), 'value');
  });
});

async function startBroker(t: TestContext, mosquitto: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-mosquitto-'));
  t.after(() => rm(directory, { recursive: true }));
  const port = await freePort();
  const config = join(directory, 'mosquitto.conf');
  await writeFile(config, `listener ${port} 127.0.0.1\nallow_anonymous true\npersistence false\n`);
  const broker = spawn(mosquitto, ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  broker.stderr.on('data', (part) => {
    said += part;
  });
  const ended = once(broker, 'exit');
  t.after(async () => {
    broker.kill();
    await ended;
  });
  const end = Date.now() + 20_000;
  while (!(await answers(port))) {
    assert.ok(broker.exitCode === null && Date.now() < end, `Mosquitto did not start: ${said}`);
    await sleep(50);
  }
  return `mqtt://127.0.0.1:${port}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
