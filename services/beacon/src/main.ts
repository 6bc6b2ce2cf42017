import { topicName } from '@adcap/contracts';
import { createReservationTokens } from '@adcap/identity';
import { createProducer } from '@adcap/kafka-bus';
import { connectRedis, createDoneMarks, createKeys } from '@adcap/redis-windows';
import { createLogger, listen, loadConfig, runService, suiteVariables } from '@adcap/service-runtime';
import { createImpressionBus } from './adapters/impression-bus.ts';
import { createInsuredMarks } from './adapters/insured-marks.ts';
import { buildApp } from './app.ts';
import { configSchema } from './config.ts';
import { createMetrics } from './metrics.ts';

const name = 'beacon';

await runService(
  {
    name,
    schema: configSchema,
    config: () => loadConfig(configSchema, process.env, { allowed: suiteVariables('BEACON', process.env) }),
    logger: (config) => createLogger({ name, level: config.ADCAP_LOG_LEVEL }),
  },
  async (stack, { config, logger, clock, registry, health }) => {
    const topic = topicName('impressions', config.ADCAP_TOPIC_PREFIX);
    const redis = connectRedis({ url: config.REDIS_URL, name, logger, role: 'decision' });
    stack.defer(() => redis.close());
    const producer = createProducer({
      bus: { brokers: config.KAFKA_BROKERS, clientId: 'adcap-beacon', logger },
      topics: [topic],
      timeoutMs: config.ADCAP_BEACON_PUBLISH_TIMEOUT_MS,
    });
    stack.defer(() => producer.close());
    const metrics = createMetrics(registry, () => producer.pending);

    health.register('informative', 'kafka', () =>
      producer.isHealthy() ? { ok: true } : { ok: false, detail: 'no acknowledgement: impressions get 503' },
    );
    health.register('informative', 'redis', () =>
      redis.isReady() ? { ok: true } : { ok: false, detail: 'no connection: repeats are published again' },
    );
    const app = await buildApp({
      config,
      logger,
      clock,
      registry,
      health,
      metrics,
      publish: createImpressionBus(producer, config.ADCAP_TOPIC_PREFIX),
      marks: createInsuredMarks({
        store: createDoneMarks(redis, createKeys(config.ADCAP_KEY_PREFIX)),
        deadlineMs: config.ADCAP_BEACON_MARKS_DEADLINE_MS,
        onFailure: (err) => {
          metrics.markFailures.inc();
          logger.debug({ err }, 'no marks of duplicates');
        },
      }),
      tokens: createReservationTokens(config.ADCAP_RESERVATION_KEYS),
      random: Math.random,
    });
    // Closed first: it answers what it has begun, for which it still needs the two above.
    stack.defer(() => app.close());
    const address = await listen(app, { host: config.ADCAP_HOST, port: config.ADCAP_BEACON_PORT });
    logger.info({ address }, 'listening');
  },
);
