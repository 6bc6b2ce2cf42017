import { type ConfigSchema, createLogger, runService } from '@adcap/service-runtime';
import type { ConsumerConfig } from './consumer-settings.ts';
import { type ImpressionConsumerOptions, startImpressionConsumer } from './start-impression-consumer.ts';

/** Runs a consumer of the impressions topic as a process, from its settings to its exit. */
export const runImpressionConsumer = <Config extends ConsumerConfig>(
  consumer: ImpressionConsumerOptions<Config>,
  schema: ConfigSchema,
  config: () => Config,
): Promise<never> =>
  runService(
    {
      name: consumer.service,
      schema,
      config,
      logger: ({ ADCAP_LOG_LEVEL: level }) => createLogger({ name: consumer.service, level }),
    },
    async (stack, context) => {
      await startImpressionConsumer(stack, context, consumer);
    },
  );
