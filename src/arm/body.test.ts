import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createLogger } from '../kit/log.ts';
import { demoProvider, groupPath } from './testing/demo-provider.ts';
import { type DemoStore, demoStore } from './testing/demo-store.ts';

const path = `${groupPath}/providers/Demo.Widgets/widgets/w?api-version=2024-01-01`;
const good = JSON.stringify({ location: 'westeurope', properties: { size: 3 } });
const limit = 64 * 1024;

let store: DemoStore;
let app: FastifyInstance;
let port = 0;
const lines: Record<string, unknown>[] = [];

before(async () => {
  store = await demoStore();
  const log = createLogger({
    service: 'demo',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  app = demoProvider({ container: store.container, log });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
});
after(async () => {
  await app.close();
  await store.close();
});

/** What comes back for these bytes; `hold` keeps the sending side open. */
function exchange(bytes: readonly (string | Buffer)[], hold = true): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of bytes) socket.write(part);
      if (!hold) socket.end();
    });
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(20_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (data: string) => {
      text += data;
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const head = text.indexOf('\r\n\r\n', text.startsWith('HTTP/1.1 100') ? text.indexOf('\r\n\r\n') + 4 : 0);
      if (length !== undefined && head !== -1 && text.length >= head + 4 + Number(length)) socket.destroy();
    });
    socket.on('error', (error) => (text === '' ? reject(error) : undefined));
    socket.on('close', () => resolve(text));
  });
}

const put = (headers: string, ...body: (string | Buffer)[]) =>
  exchange([`PUT ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`, ...body]);
const json = 'content-type: application/json\r\n';
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (?!100)(\d+)/m.exec(text)?.[1]);
const codeOf = (text: string) => /x-ms-error-code: (\w+)/i.exec(text)?.[1];

async function refused(status: number, code: string, text: Promise<string>): Promise<string> {
  const answer = await text;
  assert.deepEqual([statusOf(answer), codeOf(answer)], [status, code], answer);
  assert.match(answer, /"error": ?\{/);
  return answer;
}

describe('a body over a socket', () => {
  it('is taken whole, in chunks, and after Expect: 100-continue', async () => {
    assert.ok([200, 201].includes(statusOf(await put(`${json}content-length: ${good.length}\r\n`, good))));
    const chunk = `${good.length.toString(16)}\r\n${good}\r\n0\r\n\r\n`;
    assert.equal(statusOf(await put(`${json}transfer-encoding: chunked\r\n`, chunk)), 200);
    const expected = await put(`${json}expect: 100-continue\r\ncontent-length: ${good.length}\r\n`, good);
    assert.match(expected, /^HTTP\/1\.1 100/);
    assert.equal(statusOf(expected), 200);
    const charset = 'content-type: Application/JSON; charset="UTF-8"\r\n';
    assert.equal(statusOf(await put(`${charset}content-length: ${good.length}\r\n`, good)), 200);
  });

  it('may come slowly', async () => {
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    let text = '';
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data;
    });
    const parts = [
      `PUT ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${json}content-length: ${good.length}\r\n\r\n`,
    ];
    for (let i = 0; i < good.length; i += 10) parts.push(good.slice(i, i + 10));
    for (const part of parts) {
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await closed;
    assert.equal(statusOf(text), 200);
  });

  it('that says it is too long is refused before it is sent', async () => {
    await refused(400, 'InvalidResource', put(`${json}content-length: ${limit + 1}\r\n`));
  });

  it('that turns out too long is refused without being read to its end', async () => {
    const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`;
    await refused(400, 'InvalidResource', put(`${json}transfer-encoding: chunked\r\n`, chunk, chunk, chunk));
  });

  it('must be JSON by its type, unless it is empty', async () => {
    await refused(415, 'UnsupportedMediaType', put(`content-type: text/plain\r\ncontent-length: 2\r\n`, '{}'));
    await refused(415, 'UnsupportedMediaType', put(`content-type: ;;;\r\ncontent-length: 2\r\n`, '{}'));
    await refused(415, 'UnsupportedMediaType', put(`content-length: 2\r\n`, '{}'));
    await refused(415, 'UnsupportedMediaType', put('transfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'));
    await refused(
      415,
      'UnsupportedMediaType',
      put('content-type: application/json; charset=utf-16\r\ncontent-length: 2\r\n', '{}'),
    );
    await refused(415, 'UnsupportedMediaType', put(`${json}content-encoding: gzip\r\ncontent-length: 2\r\n`, '{}'));
    // Empty: what is missing is the value.
    await refused(400, 'InvalidRequestContent', put('content-length: 0\r\n'));
    await refused(400, 'InvalidRequestContent', put(`${json}content-length: 0\r\n`));
    await refused(400, 'InvalidRequestContent', put('transfer-encoding: chunked\r\n', '0\r\n\r\n'));
  });

  it('that is not JSON is refused with the place', async () => {
    const answer = await refused(400, 'InvalidRequestContent', put(`${json}content-length: 7\r\n`, '{"a": }'));
    assert.match(answer, /position 6/);
    await refused(400, 'InvalidRequestContent', put(`${json}content-length: 3\r\n`, Buffer.from([0x22, 0xff, 0x22])));
    const deep = '['.repeat(30_000);
    await refused(400, 'InvalidRequestContent', put(`${json}content-length: 60000\r\n`, deep, ']'.repeat(30_000)));
  });

  it('that breaks off leaves one line in the log and nothing running', async () => {
    const seen = () =>
      lines.filter(({ msg, status }) => msg === 'request' && Number(status) >= 400 && Number(status) < 500).length;
    const before = seen();
    const socket = connect(port, '127.0.0.1');
    socket.write(`PUT ${path} HTTP/1.1\r\nhost: x\r\n${json}content-length: 100\r\n\r\n{"a"`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    for (let i = 0; i < 200 && seen() === before; i++) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(seen(), before + 1);
    assert.ok(!lines.some(({ status }) => Number(status) >= 500));
  });

  it('is not waited for when the caller is refused', async () => {
    const text = await exchange([
      `PUT ${path} HTTP/1.1\r\nhost: x\r\nx-demo-caller: deny\r\n${json}content-length: 1000\r\n\r\n`,
    ]);
    assert.equal(statusOf(text), 403);
  });
});

describe('bytes that are not HTTP', () => {
  it('are answered in the form of every error', async () => {
    await refused(400, 'BadRequest', exchange(['GARBAGE\r\n\r\n']));
    await refused(431, 'RequestHeadersTooLarge', exchange([`GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`]));
  });
});
