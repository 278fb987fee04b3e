// Connections through a proxy to hosts whose certificates an authority of our own has signed. The SDKs' own support for proxies leaves
// such authorities out.
import { request } from 'node:http';
import { Agent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';

const connectTimeoutMs = 30_000;

/** An agent for https whose connections go through a plain CONNECT proxy. */
export function tunnelAgent(proxy: string, ca?: string): Agent {
  const agent = new Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) });
  agent.createConnection = (options, callback) => {
    const host = options.host ?? options.hostname ?? '';
    const done = callback ?? (() => undefined);
    openTunnel(proxy, `${host}:${options.port ?? 443}`).then(
      (socket) => {
        const secure = connect({ servername: host, ...(options as ConnectionOptions), socket });
        secure.once('error', (error) => done(error, secure));
        secure.once('secureConnect', () => done(null, secure));
      },
      // Node's type asks for a stream where there is none.
      (error: Error) => done(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
  return agent;
}

function openTunnel(proxy: string, target: string): Promise<Socket> {
  const { hostname, port } = new URL(proxy);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const asking = request({
    method: 'CONNECT',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 80 : Number(port),
    path: target,
    headers: { host: target },
    timeout: connectTimeoutMs,
  });
  asking.once('connect', (answer, socket) => {
    if (answer.statusCode === 200) {
      resolve(socket);
      return;
    }
    socket.destroy();
    reject(new Error(`the proxy does not lead to ${target}: status ${answer.statusCode}`));
  });
  asking.once('response', (answer) => {
    answer.destroy();
    reject(new Error(`the proxy does not lead to ${target}: status ${answer.statusCode}`));
  });
  asking.once('timeout', () => asking.destroy(new Error(`the proxy ${proxy} does not answer`)));
  asking.once('error', reject);
  asking.end();
  return promise;
}
