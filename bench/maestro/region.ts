// The process of the Maestro server and its broker, for bench/maestro.ts. Its addresses are its only message.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadConfig } from '../../src/kit/config.ts';
import { createLogger } from '../../src/kit/log.ts';
import { Secret } from '../../src/kit/secret.ts';
import { start as startBroker } from '../../src/local/broker/main.ts';
import { maestroServerConfig } from '../../src/maestro/server/config.ts';
import { start as startServer } from '../../src/maestro/server/main.ts';

// Whoever started this is gone.
process.on('disconnect', () => process.exit());
const logger = createLogger({ service: 'bench', level: 'error', destination: process.stderr });
const [directory = ''] = process.argv.slice(2);
const broker = await startBroker({
  logger,
  access: {
    clients: [{ authenticationName: 'bench', authentication: { password: new Secret('bench') } }],
    topicSpaces: [{ name: 'all', topicTemplates: ['#'] }],
    permissionBindings: [
      { clientGroup: '$all', topicSpace: 'all', permission: 'Publisher' },
      { clientGroup: '$all', topicSpace: 'all', permission: 'Subscriber' },
    ],
  },
});
const server = await startServer(
  loadConfig(maestroServerConfig, {
    flags: [
      ...['--instance', 'bench', '--store-file', join(directory, 'maestro.db')],
      ...['--rest-port', '0', '--plain-port', '0', '--grpc-port', '0', '--metrics-port', '0', '--health-port', '0'],
      ...['--mqtt-broker-host', broker.brokerHost, '--mqtt-username', 'bench'],
    ],
    env: { ARO_STORE_SEALING_KEY: randomBytes(32).toString('base64'), ARO_MQTT_PASSWORD: 'bench' },
  }),
  { logger },
);
await server.ready;
const { plain = '', grpc = '' } = server.addresses;
process.send?.({ rest: plain, grpc: grpc.replace(/^grpc:\/\//, ''), broker: broker.brokerHost });
