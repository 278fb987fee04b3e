// The brokers that the matrix runs over: the embedded one, and Mosquitto as it comes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../../src/kit/log.ts';
import { Secret } from '../../../src/kit/secret.ts';
import { start } from '../../../src/local/broker/main.ts';
import { type BrokerAccess, clientsOwn } from '../../../src/local/broker/permissions.ts';

export interface Broker {
  /** `host:port` */
  readonly host: string;
}

export const silent = createLogger({ service: 'test', level: 'silent' });

const sourceEvents = 'sources/maestro/consumers';

/** What a namespace for Maestro allows: an agent its own consumer's topics, the server all, the spy of these tests everything. */
export function accessFor(consumers: readonly string[]): BrokerAccess {
  const password = (of: string) => ({ password: new Secret(`${of}-word`) });
  const own = clientsOwn('attributes.consumer');
  return {
    clients: [
      { authenticationName: 'server', authentication: password('server'), groups: ['servers'] },
      { authenticationName: 'spy', authentication: password('spy'), groups: ['spies'] },
      ...consumers.map((consumer) => ({
        authenticationName: `agent-${consumer}`,
        authentication: password(`agent-${consumer}`),
        attributes: { consumer },
        groups: ['agents'],
      })),
    ],
    topicSpaces: [
      { name: 'to one agent', topicTemplates: [`${sourceEvents}/${own}/sourceevents`] },
      { name: 'from one agent', topicTemplates: [`${sourceEvents}/${own}/agentevents`] },
      { name: 'to agents', topicTemplates: [`${sourceEvents}/+/sourceevents`] },
      { name: 'from agents', topicTemplates: [`${sourceEvents}/+/agentevents`] },
      { name: 'all', topicTemplates: ['#'] },
    ],
    permissionBindings: [
      ...(consumers.length === 0
        ? []
        : ([
            { clientGroup: 'agents', topicSpace: 'to one agent', permission: 'Subscriber' },
            { clientGroup: 'agents', topicSpace: 'from one agent', permission: 'Publisher' },
          ] as const)),
      { clientGroup: 'servers', topicSpace: 'to agents', permission: 'Publisher' },
      { clientGroup: 'servers', topicSpace: 'from agents', permission: 'Subscriber' },
      { clientGroup: 'spies', topicSpace: 'all', permission: 'Publisher' },
      { clientGroup: 'spies', topicSpace: 'all', permission: 'Subscriber' },
    ],
  };
}

export async function embeddedBroker(t: TestContext, consumers: readonly string[]): Promise<Broker> {
  const running = await start({ logger: silent, access: accessFor(consumers), graceSeconds: 5 });
  t.after(() => running.stop());
  return { host: running.brokerHost };
}

/** `program` is Mosquitto. */
export async function mosquitto(t: TestContext, program: string): Promise<Broker> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-mosquitto-'));
  const port = await freePort();
  const file = join(directory, 'mosquitto.conf');
  await writeFile(file, `listener ${port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\n`);
  const child = spawn(program, ['-c', file], { stdio: 'ignore' });
  t.after(async () => {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(directory, { recursive: true });
  });
  await answering(child, port);
  return { host: `127.0.0.1:${port}` };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Settles when the program takes connections on the port. */
export async function answering(child: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await sleep(50);
  }
}
