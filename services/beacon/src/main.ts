import { createLogger, loadConfig, runService, suiteVariables } from '@adcap/service-runtime';
import { configSchema } from './config.ts';
import { startBeacon } from './start-beacon.ts';

const name = 'beacon';

await runService(
  {
    name,
    schema: configSchema,
    config: () => loadConfig(configSchema, process.env, { allowed: suiteVariables('BEACON', process.env) }),
    logger: (config) => createLogger({ name, level: config.ADCAP_LOG_LEVEL }),
  },
  async (stack, context) => {
    await startBeacon(stack, context);
  },
);
