// A proxy that sees what goes through it: it ends TLS itself, under an authority of its own, asks the cloud and notes
// both. Everything a client sends through it reaches the cloud as it was sent.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { RunningAzure } from '../../../src/local/azure/main.ts';
import { createAuthority, issueServerCertificate } from '../../../src/pki/authority.ts';
import { keyPem } from '../../../src/pki/keys.ts';
import type { RawExchange } from './exchange.ts';

export interface RecordingProxy {
  readonly url: string;
  /** PEM of the authority that its clients must trust. */
  readonly ca: string;
  /** What went through since the last call. */
  take(): readonly RawExchange[];
  stop(): Promise<void>;
}

const labels = ['vault', 'blob.storage', 'web.storage', 'azurecr', 'documents'];

export async function startRecordingProxy(azure: RunningAzure): Promise<RecordingProxy> {
  const { cloud, ca } = azure;
  const { suffix } = cloud;
  const authority = await createAuthority({ name: 'Recorder' });
  const issued = await issueServerCertificate(authority, {
    dnsNames: ['localhost', `*.${suffix}`, ...labels.map((label) => `*.${label}.${suffix}`)],
    ipAddresses: ['127.0.0.1'],
  });
  const direct = new Agent({ connect: { ca } });
  const proxied = new ProxyAgent({ uri: cloud.proxy, requestTls: { ca } });
  const open = new Set<Socket>();
  let seen: RawExchange[] = [];

  const inner = createTlsServer(
    { cert: issued.certificatePem, key: keyPem(issued.key), maxHeaderSize: 64 * 1024 },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : undefined);
      });
    },
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const host = request.headers.host ?? '';
    const path = request.url ?? '/';
    const headers = sentOn(request.headers);
    const asked = await dispatcher(host).request({
      origin: `https://${host}`,
      path,
      method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
      headers,
      ...(body.length > 0 ? { body } : {}),
    });
    const answered = Buffer.from(await asked.body.arrayBuffer());
    const answeredHeaders = sentOn(asked.headers);
    seen.push({
      method: request.method ?? 'GET',
      url: `https://${host.toLowerCase()}${path}`,
      headers,
      body,
      answer: { status: asked.statusCode, headers: answeredHeaders, body: answered },
    });
    response.writeHead(asked.statusCode, answeredHeaders).end(answered);
  }

  const dispatcher = (host: string): Dispatcher => (host.startsWith('localhost') ? direct : proxied);

  const outer = createServer((_request, response) => response.writeHead(405).end());
  outer.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  outer.on('connect', (_request, socket: Socket, head: Buffer) => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    inner.emit('connection', socket);
  });
  outer.listen(0, '127.0.0.1');
  await once(outer, 'listening');

  return {
    url: `http://127.0.0.1:${(outer.address() as AddressInfo).port}`,
    ca: authority.certificatePem,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    async stop() {
      const closed = once(outer, 'close');
      outer.close();
      for (const socket of open) socket.destroy();
      await Promise.all([closed, direct.close(), proxied.close()]);
    },
  };
}

/** Headers that are about one connection, or about a form of the body that is not kept. */
const own = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'accept-encoding',
  'expect',
]);

function sentOn(headers: { readonly [name: string]: string | string[] | undefined }): { [name: string]: string } {
  const kept: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !own.has(name)) kept[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return kept;
}
