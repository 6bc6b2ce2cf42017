import { createLogger, loadConfig, runService, suiteVariables } from '@adcap/service-runtime';
import { configSchema } from './config.ts';
import { startRules } from './start-rules.ts';

const name = 'rules';

await runService(
  {
    name,
    schema: configSchema,
    config: () => loadConfig(configSchema, process.env, { allowed: suiteVariables('RULES', process.env) }),
    logger: (config) => createLogger({ name, level: config.ADCAP_LOG_LEVEL }),
  },
  async (stack, context) => {
    await startRules(stack, context);
  },
);
