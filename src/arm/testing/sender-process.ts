// A process that sends notifications until it is killed: `node sender-process.ts <database file> <CA file> <port>`.
import { readFileSync } from 'node:fs';
import { createGuardedClient } from '../../kit/guarded-client.ts';
import { createLogger } from '../../kit/log.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import { startNotifications } from '../notifications.ts';
import { operationOptions } from './demo-provider.ts';
import { demoContainer, demoRing } from './demo-store.ts';

const [file = '', caFile = '', port = ''] = process.argv.slice(2);
const store = await openSqliteStore({ file, keyRing: demoRing });
startNotifications({
  container: await store.container<object>(demoContainer),
  store,
  paths: operationOptions.paths,
  client: createGuardedClient({
    allowedHosts: ['localhost'],
    privateHosts: ['localhost'],
    allowedPorts: [Number(port)],
    ca: readFileSync(caFile, 'utf8'),
    timeoutSeconds: 60,
    maxResponseBytes: 65_536,
  }),
  log: createLogger({ service: 'sender', level: 'silent' }),
  sendTimeoutSeconds: 1,
  sweepSeconds: 0.05,
});
