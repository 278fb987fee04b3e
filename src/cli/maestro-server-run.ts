// Runs the Maestro server as this process.
import { loadConfig } from '../kit/config.ts';
import { describeConfig } from '../kit/config-help.ts';
import { createLogger } from '../kit/log.ts';
import { runService } from '../kit/run-service.ts';
import { maestroServerConfig } from '../maestro/server/config.ts';
import { start } from '../maestro/server/main.ts';

export function settingsHelp(): string {
  return describeConfig(maestroServerConfig);
}

/** Throws ConfigError; see {@link runService} for how it ends. */
export async function runMaestroServer(flags: readonly string[]): Promise<never> {
  const config = loadConfig(maestroServerConfig, { flags, env: process.env });
  const logger = createLogger({ service: 'maestro-server' });
  return runService((given: typeof config) => start(given, { logger }), config, {
    name: 'maestro-server',
    logger,
    onReady: ({ addresses }) => logger.info({ addresses }, 'ready'),
  });
}
