// A network that can be cut: a TCP proxy between two parties.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface TcpProxy {
  /** `host:port` */
  readonly address: string;
  /** Cuts every connection and takes none. */
  cut(): void;
  heal(): void;
}

export async function tcpProxy(t: TestContext, target: string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let open = true;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (!open) return near.destroy();
    const far = connect(Number(target.slice(target.lastIndexOf(':') + 1)), target.slice(0, target.lastIndexOf(':')));
    keep(far);
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    open = false;
    for (const socket of sockets) socket.destroy();
  };
  t.after(async () => {
    cut();
    server.close();
    await once(server, 'close');
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    heal() {
      open = true;
    },
  };
}
