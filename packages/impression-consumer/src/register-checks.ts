import type { Consumer } from '@adcap/kafka-bus';
import type { RedisConnection } from '@adcap/redis-windows';
import type { Clock, Health } from '@adcap/service-runtime';
import { STUCK_AFTER_MS } from './watch-liveness.ts';

/** How far each partition is, for whoever looks at a consumer that does not get on. */
const describeLag = (consumer: Pick<Consumer, 'progress'>): string =>
  [...consumer.progress()].map(([partition, { lag }]) => `${partition}: ${lag ?? '?'}`).join(', ');

/**
 * Nothing is required: without its servers a consumer waits, and what it has to do waits in the topic.
 */
export const registerChecks = (
  health: Health,
  parts: {
    consumer: Pick<Consumer, 'isStuck' | 'isHealthy' | 'progress'>;
    redis: Pick<RedisConnection, 'isReady'>;
    clock: Clock;
  },
): void => {
  const { consumer, redis, clock } = parts;
  health.register('liveness', 'progress', () =>
    consumer.isStuck(clock.nowMs(), STUCK_AFTER_MS)
      ? { ok: false, detail: `a batch hangs; lag by partition: ${describeLag(consumer)}` }
      : { ok: true },
  );
  health.register('informative', 'kafka', () =>
    consumer.isHealthy()
      ? { ok: true, detail: `lag by partition: ${describeLag(consumer)}` }
      : { ok: false, detail: 'not in its group: no brokers, no topic, or a rebalance' },
  );
  health.register('informative', 'redis', () =>
    redis.isReady() ? { ok: true } : { ok: false, detail: 'no connection: nothing is applied' },
  );
};
