// A server with clusters of its own for one test, and a client that speaks HTTP/2 to one of them.
import { once } from 'node:events';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import type { TestContext } from 'node:test';
import { createLogger } from '../../../../kit/log.ts';
import { issueStaticToken } from '../../access/static-tokens.ts';
import type { HostedCluster } from '../../clusters.ts';
import { type KubernetesConfig, type RunningKubernetes, start } from '../../main.ts';
import type { KubeObject } from '../../object.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; fails where it is none. */
  json<T = KubeObject>(): T;
}

export interface Event {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject & { readonly code?: number };
}

export interface Watching {
  /** The next event; undefined when the watch has ended. */
  next(): Promise<Event | undefined>;
  close(): void;
}

export interface Client {
  request(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Reply>;
  watch(path: string): Promise<Watching>;
}

export const silent = createLogger({ service: 'test', level: 'silent' });

/** Starts a server; it stops when the test is over. */
export async function startServer(t: TestContext, config: Partial<KubernetesConfig> = {}): Promise<RunningKubernetes> {
  const running = await start({ logger: silent, clusters: ['one'], graceSeconds: 1, controllers: false, ...config });
  t.after(() => running.stop());
  return running;
}

export const portOf = (running: RunningKubernetes): number => Number(new URL(running.addresses.https ?? '').port);

/** A client of one cluster with the rights of an administrator, or as another user. */
export async function clientOf(
  t: TestContext,
  running: RunningKubernetes,
  cluster: HostedCluster | undefined,
  user: { readonly name: string; readonly groups?: readonly string[] } = { name: 'admin', groups: ['system:masters'] },
): Promise<Client> {
  if (!cluster) throw new Error('there is no such cluster');
  const { name, groups } = user;
  const token = await issueStaticToken(cluster.objects, { user: name, ...(groups ? { groups } : {}) });
  const session = connect(`https://127.0.0.1:${portOf(running)}`, {
    servername: cluster.hostName,
    ca: await cluster.ca(),
  });
  await once(session, 'connect');
  t.after(() => session.destroy());
  return clientOver(session, { authorization: `Bearer ${token.reveal()}` });
}

export function clientOver(session: ClientHttp2Session, always: Readonly<Record<string, string>>): Client {
  return {
    async request(method, path, { body, headers = {} } = {}) {
      const bytes =
        body === undefined || Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
      const stream = session.request(
        {
          ':method': method,
          ':path': path,
          'user-agent': 'test/1',
          ...(bytes === undefined ? {} : { 'content-type': 'application/json' }),
          ...always,
          ...headers,
        },
        { endStream: bytes === undefined },
      );
      if (bytes !== undefined) stream.end(bytes);
      const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part as Buffer);
      const whole = Buffer.concat(parts);
      return {
        status: answer[':status'] ?? 0,
        headers: answer,
        bytes: whole,
        text: whole.toString(),
        json: <T>() => JSON.parse(whole.toString()) as T,
      };
    },
    async watch(path) {
      const stream = session.request({ ':path': path, 'user-agent': 'test/1', ...always });
      await once(stream, 'response');
      const events: Event[] = [];
      const waiting: ((event: Event | undefined) => void)[] = [];
      let rest = '';
      let ended = false;
      const end = (): void => {
        ended = true;
        for (const resolve of waiting.splice(0)) resolve(undefined);
      };
      stream.on('data', (part: Buffer) => {
        const lines = (rest + part.toString()).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const event = JSON.parse(line) as Event;
          const resolve = waiting.shift();
          if (resolve) resolve(event);
          else events.push(event);
        }
      });
      stream.on('error', end);
      stream.on('close', end);
      stream.on('end', end);
      return {
        next() {
          const event = events.shift();
          if (event || ended) return Promise.resolve(event);
          return new Promise((resolve) => waiting.push(resolve));
        },
        close: () => stream.close(),
      };
    },
  };
}
