import { runImpressionConsumer } from '@adcap/impression-consumer';
import { loadConfig, suiteVariables } from '@adcap/service-runtime';
import { cleanupConsumer } from './cleanup-consumer.ts';
import { configSchema } from './config.ts';

await runImpressionConsumer(cleanupConsumer, configSchema, () =>
  loadConfig(configSchema, process.env, { allowed: suiteVariables('CLEANUP', process.env) }),
);
