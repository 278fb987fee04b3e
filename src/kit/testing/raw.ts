// Speaks to a listener byte by byte, for what no well-behaved client would send.
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

export interface RawConnection {
  readonly socket: Socket;
  write(text: string): void;
  /** Everything received so far. */
  received(): string;
  /** Resolves when this much of the answer is there; rejects when the connection ends before. */
  until(form: RegExp): Promise<string>;
  /** Resolves with everything received, when the other side ends or cuts the connection. */
  ended(): Promise<string>;
}

export async function rawConnection(port: number, tls?: ConnectionOptions): Promise<RawConnection> {
  const socket = tls
    ? connectTls({ host: '127.0.0.1', servername: 'localhost', port, ...tls })
    : connectPlain(port, '127.0.0.1');
  let text = '';
  let over = false;
  socket.setEncoding('utf8');
  socket.on('data', (part: string) => {
    text += part;
    socket.emit('progress');
  });
  const end = new Promise<void>((resolve) => {
    socket.once('close', () => {
      over = true;
      resolve();
      socket.emit('progress');
    });
  });
  await once(socket, tls ? 'secureConnect' : 'connect');
  // A connection that is cut counts as ended, which is what is being looked for.
  socket.on('error', () => undefined);
  return {
    socket,
    write: (part) => {
      socket.write(part);
    },
    received: () => text,
    async until(form) {
      while (!form.test(text)) {
        if (over) throw new Error(`the connection ended after ${JSON.stringify(text)}`);
        await once(socket, 'progress');
      }
      return text;
    },
    async ended() {
      await end;
      return text;
    },
  };
}

/** Sends one request as it stands, with `connection: close` left to the caller, and returns the whole answer. */
export async function rawRequest(port: number, text: string, tls?: ConnectionOptions): Promise<RawAnswer> {
  const connection = await rawConnection(port, tls);
  connection.write(text);
  connection.socket.end();
  const answer = await connection.ended();
  const [head = '', ...body] = answer.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: body.join('\r\n\r\n') };
}

export interface RawAnswer {
  /** 0 when the connection was closed without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}
