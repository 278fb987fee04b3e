// Runs the Maestro agent as this process.
import { loadConfig } from '../kit/config.ts';
import { describeConfig } from '../kit/config-help.ts';
import { createLogger } from '../kit/log.ts';
import { runService } from '../kit/run-service.ts';
import { maestroAgentConfig } from '../maestro/agent/config.ts';
import { start } from '../maestro/agent/main.ts';

export function settingsHelp(): string {
  return describeConfig(maestroAgentConfig);
}

/** Throws ConfigError; see {@link runService} for how it ends. */
export async function runMaestroAgent(flags: readonly string[]): Promise<never> {
  const config = loadConfig(maestroAgentConfig, { flags, env: process.env });
  const logger = createLogger({ service: 'maestro-agent' });
  return runService((given: typeof config) => start(given, { logger }), config, {
    name: 'maestro-agent',
    logger,
    onReady: ({ addresses }) => logger.info({ addresses }, 'ready'),
  });
}
