// Our server and our agent as rows of the matrix have them.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { loadConfig } from '../../../src/kit/config.ts';
import type { Running } from '../../../src/kit/service.ts';
import type { ClusterAccess } from '../../../src/kube/cluster-access.ts';
import { maestroAgentConfig } from '../../../src/maestro/agent/config.ts';
import { start as startAgent } from '../../../src/maestro/agent/main.ts';
import { maestroServerConfig } from '../../../src/maestro/server/config.ts';
import { start as startServer } from '../../../src/maestro/server/main.ts';
import { silent } from './brokers.ts';
import { consumer } from './world.ts';

export interface OurServer {
  readonly rest: string;
  /** `host:port` */
  readonly grpc: string;
  /** `host:port`, where there is no broker. */
  readonly grpcBroker: string;
}

/** With a broker given as `host:port`, or with the gRPC broker of its own. */
export async function ourServer(t: TestContext, broker: string | undefined): Promise<OurServer> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-maestro-'));
  const flags = [
    ...['--instance', `maestro-${randomUUID()}`, '--store-file', join(directory, 'maestro.db')],
    ...['--rest-port', '0', '--plain-port', '0', '--grpc-port', '0', '--metrics-port', '0', '--health-port', '0'],
    ...(broker === undefined
      ? ['--grpc-broker-port', '0']
      : ['--mqtt-broker-host', broker, '--mqtt-username', 'server']),
  ];
  const env = {
    ARO_STORE_SEALING_KEY: randomBytes(32).toString('base64'),
    ...(broker === undefined ? {} : { ARO_MQTT_PASSWORD: 'server-word' }),
  };
  const running = await startServer(loadConfig(maestroServerConfig, { flags, env }), {
    logger: silent,
    graceSeconds: 5,
  });
  t.after(async () => {
    await running.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  });
  await running.ready;
  const host = (name: string): string => (running.addresses[name] ?? '').replace(/^[a-z]+:\/\//, '');
  return { rest: running.addresses.plain ?? '', grpc: host('grpc'), grpcBroker: host('grpcBroker') };
}

export interface OurAgent {
  restart(): Promise<void>;
}

export async function ourAgent(
  t: TestContext,
  access: ClusterAccess,
  link: { readonly mqtt: string } | { readonly grpc: string },
): Promise<OurAgent> {
  const flags = [
    ...['--consumer-name', consumer, '--metrics-port', '0'],
    ...('mqtt' in link
      ? ['--mqtt-broker-host', link.mqtt, '--mqtt-username', `agent-${consumer}`]
      : ['--grpc-url', link.grpc]),
  ];
  const env = 'mqtt' in link ? { ARO_MQTT_PASSWORD: `agent-${consumer}-word` } : {};
  const run = (): Promise<Running> =>
    startAgent(loadConfig(maestroAgentConfig, { flags, env }), { logger: silent, graceSeconds: 5, access });
  let running = await run();
  t.after(() => running.stop());
  await running.ready;
  return {
    async restart() {
      await running.stop();
      running = await run();
      await running.ready;
    },
  };
}
