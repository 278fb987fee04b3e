// An HTTPS server that answers as a test tells it to, for what a well-behaved API server does not do on demand.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { type TestCertificates, testCertificates } from '../../kit/testing/certificates.ts';
import { type ClientOptions, createClient, type KubeClient } from '../client.ts';
import { type ClusterAccess, fixedCredential } from '../cluster-access.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The common name of the client's certificate. */
  readonly certificateName: string | undefined;
  /** The name that the client asked for in the handshake. */
  readonly serverName: string | undefined;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => unknown;

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly certificates: TestCertificates;
  readonly access: ClusterAccess;
  /** In the order they came. */
  readonly seen: readonly SeenRequest[];
  /** From now on answers come from this. */
  answer(next: Answer): void;
  client(options?: Partial<ClientOptions>): KubeClient;
  /** Cuts every connection, as a machine does that loses its power. */
  cut(): void;
}

export async function scriptedServer(t: TestContext, first: Answer): Promise<ScriptedServer> {
  const certificates = await testCertificates(t);
  const [cert, key] = await Promise.all([
    readFile(certificates.server.certificate, 'utf8'),
    readFile(certificates.server.key, 'utf8'),
  ]);
  const seen: SeenRequest[] = [];
  const sockets = new Set<Duplex>();
  let answer = first;
  const server = createServer(
    { cert, key, ca: certificates.ca, requestCert: true, rejectUnauthorized: false },
    async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      const url = new URL(request.url ?? '/', 'https://server');
      const socket = request.socket as TLSSocket;
      const subject = socket.authorized ? socket.getPeerCertificate().subject?.CN : undefined;
      const one: SeenRequest = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body,
        certificateName: Array.isArray(subject) ? subject[0] : subject,
        serverName: typeof socket.servername === 'string' ? socket.servername : undefined,
      };
      seen.push(one);
      await answer(one, response);
    },
  );
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(async () => {
    server.close();
    cut();
  });
  const url = `https://127.0.0.1:${port}`;
  const access: ClusterAccess = {
    server: url,
    authorities: async () => certificates.ca,
    credentials: fixedCredential({}),
    namespace: 'default',
    origin: 'test',
  };
  return {
    url,
    port,
    certificates,
    access,
    seen,
    answer(next) {
      answer = next;
    },
    client(options = {}) {
      const client = createClient({ access, userAgent: 'aro/test', ...options });
      t.after(() => client.close());
      return client;
    },
    cut,
  };
}

export function sendJson(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A Status as the server sends it for a refusal. */
export function failure(code: number, reason: string, message: string, details: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code };
}
