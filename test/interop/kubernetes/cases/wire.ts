// One HTTP/2 connection to an API server, and the answers that come over it.
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import type { Headers, Json } from './case.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: Json;
  readonly events?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** JSON and YAML as what they say, events of a watch as a list, anything else as text. */
  readonly body: Json;
}

export interface Wire {
  ask(asked: Asked): Promise<Answer>;
  /** Resolves when grants made before are in force. */
  settle(): Promise<void>;
  close(): void;
}

/** Headers that are part of the answer. */
const telling = ['content-type', 'warning', 'retry-after', 'allow', 'www-authenticate'];

/** Longer than any answer takes; a watch that stays silent is given up then. */
const patienceMilliseconds = 8_000;

/** Connects as an administrator with a bearer token; again when the server has hung up. A server that learns of grants by watching them takes a while to. */
export async function openWire(
  url: string,
  token: string,
  tls: SecureClientSessionOptions,
  settleMilliseconds = 0,
): Promise<Wire> {
  const open = async (): Promise<ClientHttp2Session> => {
    const made = connect(url, tls);
    await once(made, 'connect');
    made.on('error', () => undefined);
    return made;
  };
  let session = await open();
  return {
    async ask(asked) {
      if (session.closed || session.destroyed) session = await open();
      return ask(session, token, asked);
    },
    settle: () => sleep(settleMilliseconds),
    close: () => session.destroy(),
  };
}

async function ask(session: ClientHttp2Session, token: string, asked: Asked): Promise<Answer> {
  const { method, path, headers = {}, body, events } = asked;
  const bytes = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const stream = session.request(
    {
      ':method': method,
      ':path': path,
      'user-agent': 'conformance/1',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(bytes === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    { endStream: bytes === undefined, signal: AbortSignal.timeout(patienceMilliseconds) },
  );
  if (bytes !== undefined) stream.end(bytes);
  let text = '';
  try {
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
    stream.setEncoding('utf8');
    for await (const part of stream) {
      text += part as string;
      if (events !== undefined && text.split('\n').length > events) break;
    }
    const told = telling.flatMap((name) => (head[name] === undefined ? [] : [[name, String(head[name])] as const]));
    return {
      status: head[':status'] ?? 0,
      headers: Object.fromEntries(told),
      body: read(text, String(head['content-type']), events),
    };
  } catch (error) {
    throw new Error(`${method} ${path}: no answer after ${JSON.stringify(text.slice(0, 2000))}`, { cause: error });
  } finally {
    stream.on('error', () => undefined);
    stream.close();
  }
}

function read(text: string, type: string, events: number | undefined): Json {
  if (events !== undefined && type.startsWith('application/json')) {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.slice(0, Math.max(events, 1)).map((line) => JSON.parse(line) as Json);
  }
  if (type.startsWith('application/json')) return JSON.parse(text) as Json;
  if (type.startsWith('application/yaml')) return parse(text) as Json;
  return text;
}
