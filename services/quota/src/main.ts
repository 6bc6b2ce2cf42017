import { runImpressionConsumer } from '@adcap/impression-consumer';
import { loadConfig, suiteVariables } from '@adcap/service-runtime';
import { configSchema } from './config.ts';
import { quotaConsumer } from './quota-consumer.ts';

await runImpressionConsumer(quotaConsumer, configSchema, () =>
  loadConfig(configSchema, process.env, { allowed: suiteVariables('QUOTA', process.env) }),
);
