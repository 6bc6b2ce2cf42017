import { runImpressionConsumer } from '@adcap/impression-consumer';
import { loadConfig, suiteVariables } from '@adcap/service-runtime';
import { configSchema } from './config.ts';
import { historyConsumer } from './history-consumer.ts';

await runImpressionConsumer(historyConsumer, configSchema, () =>
  loadConfig(configSchema, process.env, { allowed: suiteVariables('HISTORY', process.env) }),
);
