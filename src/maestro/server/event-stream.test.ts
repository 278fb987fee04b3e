import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import type { Metadata } from '@grpc/grpc-js';
import type { CloudEvent } from '../protocol/cloud-event.ts';
import { openEventStream } from './event-stream.ts';

const event = (id: string, bytes = 10): CloudEvent => ({
  id,
  source: 's',
  type: 't',
  extensions: {},
  data: Buffer.alloc(bytes),
});

/** A call whose reader takes nothing until it is told to. */
function slowCall() {
  const written: string[] = [];
  let headers: Metadata | undefined;
  const call = Object.assign(new EventEmitter(), {
    cancelled: false,
    sendMetadata(sent: Metadata) {
      headers = sent;
    },
    write(sent: CloudEvent) {
      written.push(sent.id);
      return false;
    },
  });
  const errors: { code: number; details: string }[] = [];
  call.on('error', (error: { code: number; details: string }) => errors.push(error));
  return {
    call: call as unknown as Parameters<typeof openEventStream>[0],
    emitter: call,
    written,
    errors,
    headers: () => headers,
  };
}

describe('a Subscribe stream', () => {
  test('begins with its id', () => {
    const { call, headers } = slowCall();
    openEventStream(call, { heartbeatSeconds: 0 });
    assert.equal(headers()?.get('subscription-id').length, 1);
  });

  test('keeps events in order for a slow reader, and cuts it off when there are too many', () => {
    const { call, emitter, written, errors } = slowCall();
    const stream = openEventStream(call, { heartbeatSeconds: 0, maxEvents: 3 });
    for (const id of ['1', '2', '3', '4']) assert.equal(stream.push(event(id)), true);
    assert.deepEqual(written, ['1']);
    emitter.emit('drain');
    assert.deepEqual(written, ['1', '2']);
    assert.equal(stream.push(event('5')), true);
    assert.equal(stream.push(event('6')), false);
    assert.ok(stream.ended.aborted);
    assert.match(errors[0]?.details ?? '', /too slowly/);
  });

  test('cuts off a reader whose events are too large together', () => {
    const { call } = slowCall();
    const stream = openEventStream(call, { heartbeatSeconds: 0, maxBytes: 4000 });
    assert.equal(stream.push(event('1', 3000)), true);
    assert.equal(stream.push(event('2', 3000)), true);
    assert.equal(stream.push(event('3', 3000)), false);
  });

  test('lets what can wait wait for room', async () => {
    const { call, emitter, written } = slowCall();
    const stream = openEventStream(call, { heartbeatSeconds: 0, maxEvents: 2 });
    const offered = ['1', '2', '3', '4', '5'].map((id) => stream.offer(event(id)));
    while (written.length < 5) {
      emitter.emit('drain');
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(await Promise.all(offered), [true, true, true, true, true]);
    assert.deepEqual([...written].sort(), ['1', '2', '3', '4', '5']);
  });

  test('cuts off a reader that takes nothing at all', async () => {
    const { call } = slowCall();
    const stream = openEventStream(call, { heartbeatSeconds: 0, maxEvents: 1, slowMs: 20 });
    stream.push(event('1'));
    stream.push(event('2'));
    const waiting = stream.offer(event('3'));
    await once(stream.ended, 'abort');
    assert.equal(await waiting, false);
  });
});
