// Requests per second of a GET through the whole ARM plugin stack, against a bare fastify route that answers the same bytes and
// writes the same one log line. Each server is a process of its own on one core; the client has the other.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { pino } from 'pino';
import { ArmError } from '../src/arm/errors.ts';
import { armScope } from '../src/arm/plugin.ts';
import { isGuid, isResourceGroupName, isResourceName } from '../src/arm/resource-id.ts';
import { armServerOptions } from '../src/arm/server-options.ts';
import { createLogger } from '../src/kit/log.ts';
import { median, progress, report } from './harness.ts';

const subscriptionId = '11111111-2222-3333-4444-555555555555';
const route = '/subscriptions/:subscriptionId/resourceGroups/:resourceGroupName/providers/Demo.Widgets/widgets/:name';
const path = `/subscriptions/${subscriptionId}/resourceGroups/group/providers/Demo.Widgets/widgets/one`;
const version = '2024-01-01';
const headers = {
  'x-ms-correlation-request-id': 'aaaaaaaa-0000-0000-0000-000000000001',
  'x-ms-client-request-id': 'bbbbbbbb-0000-0000-0000-000000000001',
  'x-ms-home-tenant-id': 'cccccccc-0000-0000-0000-000000000001',
  'x-ms-client-object-id': 'dddddddd-0000-0000-0000-000000000001',
  referer: `https://management.azure.com${path}?api-version=${version}`,
};
const resource = {
  id: path,
  name: 'one',
  type: 'Demo.Widgets/widgets',
  location: 'westeurope',
  tags: { team: 'a', stage: 'production' },
  systemData: { createdBy: 'alice', createdByType: 'User', createdAt: '2024-01-01T00:00:00Z' },
  properties: {
    provisioningState: 'Succeeded',
    size: 3,
    version: { id: '4.20', channelGroup: 'stable' },
    labels: [1, 2, 3],
  },
};

function logger() {
  const destination = pino.destination({ dest: '/dev/null', sync: false, minLength: 4096 });
  return createLogger({ service: 'bench', destination });
}

function armServer(): FastifyInstance {
  const subscription = { state: 'Registered', tenantId: 'cccccccc-0000-0000-0000-000000000001' };
  const allow = { read: 'allow', write: 'allow', delete: 'allow', action: 'allow' } as const;
  const app = Fastify({ ...armServerOptions(), loggerInstance: logger() });
  const rule = (valid: (value: string) => boolean) => ({ valid, code: 'InvalidParameter', message: () => 'invalid' });
  const error = () => new ArmError(400, 'InvalidParameter', 'api-version');
  app.register(
    armScope(
      {
        authenticate: async () => ({ name: 'arm', isArm: true }),
        pathParameters: {
          subscriptionId: rule(isGuid),
          resourceGroupName: rule(isResourceGroupName),
          name: rule(isResourceName),
        },
        apiVersion: { supported: [version], missing: error, unknown: error },
        subscriptionGate: {
          lookup: async () => subscription,
          states: { Registered: allow },
          missing: allow,
          other: allow,
        },
        body: { limitBytes: 1024 },
        output: { indent: 4, finalNewline: false },
      },
      (scope) => void scope.get(route, async () => resource),
    ),
  );
  return app as unknown as FastifyInstance;
}

function bareServer(): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger(),
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
    genReqId: () => 'eeeeeeee-0000-0000-0000-000000000001',
    childLoggerFactory: (log, bindings, options) =>
      log.child({ ...bindings, correlationId: headers['x-ms-correlation-request-id'] }, options),
  });
  app.setReplySerializer((payload) => JSON.stringify(payload, undefined, 4));
  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      method: request.method,
      route,
      path,
      apiVersion: version,
      status: reply.statusCode,
      outcome: 'success',
      durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
      bytesOut: Number(reply.getHeader('content-length')),
      caller: 'arm',
      clientRequestId: headers['x-ms-client-request-id'],
    };
    request.log.info(line, 'request');
    done();
  });
  app.get(route, async () => resource);
  return app as unknown as FastifyInstance;
}

const servers: Readonly<Record<string, () => FastifyInstance>> = { arm: armServer, bare: bareServer };

async function serve(make: () => FastifyInstance): Promise<void> {
  const app = make();
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  process.on('disconnect', () => process.exit());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1e6);
  });
  process.send?.(address);
}

const pinned = availableParallelism() > 1 && hasTaskset();

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-cp', '0', String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Server {
  readonly url: string;
  /** Seconds of processor time that it has used. */
  cpuSeconds(): Promise<number>;
  stop(): void;
}

async function start(name: string): Promise<Server> {
  const command = [process.execPath, fileURLToPath(import.meta.url), name];
  const [file = '', ...args] = pinned ? ['taskset', '-c', '1', ...command] : command;
  const child: ChildProcess = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [address] = await once(child, 'message');
  return {
    url: `${address}${path}?api-version=${version}`,
    async cpuSeconds() {
      child.send('cpu');
      const [seconds] = await once(child, 'message');
      return seconds;
    },
    stop: () => child.disconnect(),
  };
}

const client = fileURLToPath(import.meta.resolve('autocannon'));

interface Rates {
  /** Requests per second by the clock, which other work on the machine disturbs. */
  readonly clock: number;
  /** Requests per second of processor time of the server, which it does not. */
  readonly cpu: number;
}

/** The client runs on the core this process was pinned to. */
async function fire(server: Server, seconds: number): Promise<Rates> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const args = [client, '-j', '-c', '16', '-d', String(seconds), ...sent, server.url];
  const before = await server.cpuSeconds();
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
  const used = (await server.cpuSeconds()) - before;
  const result = JSON.parse(stdout) as Record<'non2xx' | 'errors' | 'duration', number> & {
    requests: { total: number };
  };
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx + result.errors} requests failed`);
  const { total } = result.requests;
  return { clock: total / result.duration, cpu: total / used };
}

async function measure(): Promise<void> {
  const subject = await start('arm');
  const peer = await start('bare');
  try {
    const [ours, theirs] = await Promise.all(
      [subject, peer].map(async ({ url }) => (await fetch(url, { headers })).text()),
    );
    if (ours !== theirs) throw new Error('the two servers answer different bytes');
    progress('warming up');
    await fire(subject, 3);
    await fire(peer, 3);
    const rounds: { readonly subject: Rates[]; readonly peer: Rates[] } = { subject: [], peer: [] };
    for (let round = 0; round < 5; round++) {
      rounds.subject.push(await fire(subject, 2));
      rounds.peer.push(await fire(peer, 2));
    }
    const units = { clock: 'requests/s', cpu: 'requests/s of processor time' } as const;
    const counted = { clock: 'by the clock', cpu: 'by processor time' } as const;
    for (const kind of ['clock', 'cpu'] as const) {
      const value = median(rounds.subject.map((rates) => rates[kind]));
      const bare = median(rounds.peer.map((rates) => rates[kind]));
      const name = `GET of a resource through the stack, ${pinned ? 'one core, ' : ''}${counted[kind]}`;
      report({ bench: 'arm', case: name, value, unit: units[kind], peer: bare, ratio: value / bare });
    }
  } finally {
    subject.stop();
    peer.stop();
  }
}

const wanted = servers[process.argv[2] ?? ''];
await (wanted ? serve(wanted) : measure());
