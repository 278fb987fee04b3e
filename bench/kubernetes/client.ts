// A client of one cluster over HTTP/2, for whichever server.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';

/** What it takes to reach a cluster as administrator: a token, or a certificate as in its kubeconfig. */
export interface Access {
  readonly url: string;
  readonly serverName: string;
  readonly ca: string;
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
}

export interface Client {
  /** Reads the whole answer; throws when it is not a success. */
  call(method: string, path: string, body?: object, contentType?: string): Promise<void>;
  /** Resolves when the watch has begun. Tells how many events have come. */
  watch(path: string, onEvents: (count: number) => void): Promise<ClientHttp2Stream>;
  close(): void;
}

export const namespaces = '/api/v1/namespaces';
export const maps = `${namespaces}/default/configmaps`;

const inFlight = 16;

export async function clientOf({ url, serverName, ca, token, certificate }: Access): Promise<Client> {
  const session: ClientHttp2Session = connect(url, { servername: serverName, ca, ...certificate });
  await once(session, 'connect');
  const identity = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    async call(method, path, body, contentType = 'application/json') {
      const head = { ':method': method, ':path': path, ...identity, 'content-type': contentType };
      const stream = session.request(head, { endStream: body === undefined });
      if (body) stream.end(JSON.stringify(body));
      await new Promise<void>((resolve, reject) => {
        let status = 0;
        let text = '';
        stream.on('response', (headers) => {
          status = headers[':status'] ?? 0;
        });
        stream.on('data', (part: Buffer) => {
          if (status >= 300) text += part;
        });
        stream.on('end', () => {
          if (status < 300) resolve();
        });
        stream.on('error', reject);
        stream.on('close', () => reject(new Error(`${method} ${path}: ${status} ${text} (${stream.rstCode})`)));
      });
    },
    async watch(path, onEvents) {
      const stream = session.request({ ':path': path, ...identity });
      stream.on('error', () => {});
      stream.on('data', (part: Buffer) => {
        let count = 0;
        for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) count++;
        onEvents(count);
      });
      await once(stream, 'response');
      return stream;
    },
    close: () => session.destroy(),
  };
}

/** About 2 KiB of JSON. */
export function objectOf(name: string, value = 'v'): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { 'app.kubernetes.io/part-of': 'bench' } },
    data: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`key-${at}`, value.repeat(140)])),
  };
}

/** A name that no other run has used. */
export const newToken = (): string => randomUUID().slice(0, 8);

/** Does an operation so many times, some of them at once. */
export async function concurrently(
  count: number,
  operation: (at: number) => Promise<unknown>,
  atOnce = inFlight,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await operation(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}
