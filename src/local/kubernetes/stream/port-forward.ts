// Port forwarding: over one connection, a pair of streams for every connection that the client takes – data, and an error
// stream that carries a message if there is one. SPDY directly, or within a WebSocket.
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ActionHandler, UpgradeAnswer } from '../http/routes.ts';
import { badRequest } from '../status.ts';
import { findPod, type PodShape, requireNode } from './pod.ts';
import type { PodBackends } from './pod-backends.ts';
import { type SpdyStream, serveSpdy } from './spdy.ts';
import { acceptKey, webSocketBytes } from './websocket.ts';

const protocol = 'portforward.k8s.io';
/** How a WebSocket client asks for SPDY within, in its list of protocols. */
const tunnels: readonly string[] = [`SPDY/3.1+${protocol}`, `v2.${protocol}`];

type Target = { readonly host: string; readonly port: number };

const listOf = (header: string | undefined): readonly string[] => (header ?? '').split(',').map((item) => item.trim());

export function portForward(backends: PodBackends): ActionHandler {
  return (request) => {
    const { cluster, namespace, name, header } = request;
    const pod = findPod(request);
    requireNode(pod);
    const targetOf = (port: number): Target | undefined => {
      for (const { name: container } of pod.containers) {
        const target = backends.find({ cluster: cluster.name, namespace, pod: name, container })?.ports.get(port);
        if (target) return target;
      }
      return undefined;
    };
    const upgrade = listOf(header('upgrade')?.toLowerCase());
    const serve = (connection: Duplex): void => void forward(connection, pod, targetOf);
    if (upgrade.includes('spdy/3.1')) return overSpdy(header('x-stream-protocol-version'), serve);
    if (upgrade.includes('websocket')) {
      return overWebSocket(header('sec-websocket-protocol'), header('sec-websocket-key'), serve);
    }
    throw badRequest('Upgrade request required');
  };
}

function overSpdy(asked: string | undefined, serve: (connection: Duplex) => void): UpgradeAnswer {
  // Clients that name none are of a time when there was only one.
  if (asked !== undefined && !listOf(asked).includes(protocol)) {
    throw badRequest(
      `unable to negotiate protocol: client supports [${listOf(asked).join(' ')}], server supports [${protocol}]`,
    );
  }
  return {
    upgrade: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol },
    take: serve,
  };
}

function overWebSocket(
  asked: string | undefined,
  key: string | undefined,
  serve: (connection: Duplex) => void,
): UpgradeAnswer {
  const chosen = listOf(asked).find((offered) => tunnels.includes(offered));
  if (chosen === undefined || key === undefined) {
    throw badRequest(`port forwarding over a WebSocket needs one of the protocols ${tunnels.join(', ')}`);
  }
  return {
    upgrade: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-accept': acceptKey(key),
      'sec-websocket-protocol': chosen,
    },
    take: (connection) => serve(webSocketBytes(connection)),
  };
}

async function forward(
  connection: Duplex,
  pod: PodShape,
  targetOf: (port: number) => Target | undefined,
): Promise<void> {
  /** Streams whose other half has not come yet, by the client's number for the pair. */
  const halves = new Map<string, SpdyStream>();
  await serveSpdy(connection, (stream) => {
    const { headers } = stream;
    const type = headers.get('streamtype');
    const id = headers.get('requestid') ?? headers.get('port') ?? '';
    const port = Number(headers.get('port'));
    if ((type !== 'data' && type !== 'error') || !Number.isInteger(port) || port < 1 || port > 65_535) {
      stream.destroy();
      return;
    }
    const half = halves.get(id);
    if (!half) {
      halves.set(id, stream);
      stream.once('close', () => {
        if (halves.get(id) === stream) halves.delete(id);
      });
      return;
    }
    halves.delete(id);
    if (half.headers.get('streamtype') === type || half.headers.get('port') !== headers.get('port')) {
      half.destroy();
      stream.destroy();
      return;
    }
    const [data, errors] = type === 'data' ? [stream, half] : [half, stream];
    join(data, errors, pod, port, targetOf(port));
  });
}

function join(data: SpdyStream, errors: SpdyStream, pod: PodShape, port: number, target: Target | undefined): void {
  // The client sends nothing on it but its end.
  errors.resume();
  const fail = (why: string): void => {
    if (errors.writable) errors.end(`error forwarding port ${port} to pod ${pod.name}, uid ${pod.uid}: ${why}`);
    data.destroy();
  };
  if (!target) {
    fail('no service of this machine stands behind this port of the pod');
    return;
  }
  const socket = connect({ ...target, allowHalfOpen: true, noDelay: true });
  socket.on('error', (error) => fail(error.message));
  data.once('close', () => {
    socket.destroy();
    // Without a message it says that all went well.
    if (errors.writable) errors.end();
  });
  // A side that ends tells the other, which may have more to send.
  data.pipe(socket).pipe(data);
}
