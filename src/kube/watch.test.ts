import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isExpired, KubeConnectionError } from './kube-error.ts';
import { decodeWatch, type WatchEvent } from './watch.ts';

const event = (name: string, more: object = {}) => ({ type: 'ADDED', object: { metadata: { name }, ...more } });
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

describe('the stream of a watch', () => {
  it('gives the same events however the network cuts it, also within a character', async () => {
    const events = [event('ä€😀'), event('b', { text: 'x\\n"' }), event('c')];
    const bytes = Buffer.from(events.map(line).join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        assert.deepEqual(await decoded(pieces), events);
      }),
      { numRuns: 50 },
    );
  });

  it('takes an event of many megabytes in many pieces', async () => {
    const bytes = Buffer.from(line(event('big', { data: 'x'.repeat(5_000_000) })));
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 16_384) pieces.push(bytes.subarray(at, at + 16_384));
    const [big] = await decoded(pieces);
    assert.equal(big?.object.data?.length, 5_000_000);
  });

  it('delivers what came before it breaks off within an event, and then fails', async () => {
    const got: string[] = [];
    const bytes = Buffer.from(line(event('a')) + line(event('b')).slice(0, 20));
    await assert.rejects(async () => {
      for await (const { object } of decodeWatch(pieces([bytes]))) got.push(object.metadata.name ?? '');
    }, KubeConnectionError);
    assert.deepEqual(got, ['a']);
  });

  it('turns an ERROR event into the error of its Status', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (2)' };
    await assert.rejects(decoded([Buffer.from(line({ type: 'ERROR', object: status }))]), (error) => isExpired(error));
  });

  it('refuses what is no event', async () => {
    for (const text of ['<html>\n', '{"type":"ADDED"}\n', '{"type":"ODD","object":{}}\n', 'null\n']) {
      await assert.rejects(decoded([Buffer.from(text)]), KubeConnectionError, text);
    }
  });
});

type Seen = WatchEvent<{ metadata: { name?: string }; data?: string }>;

async function decoded(parts: readonly Buffer[]): Promise<Seen[]> {
  const events: Seen[] = [];
  for await (const each of decodeWatch<Seen['object']>(pieces(parts))) events.push(each);
  return events;
}

async function* pieces(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}
