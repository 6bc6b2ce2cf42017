import type { ImpressionConsumerOptions } from '@adcap/impression-consumer';
import { createAppliedOffsets, createCleaner } from '@adcap/redis-windows';
import type { CleanupConfig } from './config.ts';
import { createTrimMemory } from './domain/trim-memory.ts';
import { createCleanupHandler } from './handlers/create-cleanup-handler.ts';
import { createMetrics } from './metrics.ts';
import { scanForStrays } from './scan-for-strays.ts';

/** The cleanup consumer: trims the devices that watch, and looks beside that for keys that would live for ever. */
export const cleanupConsumer: ImpressionConsumerOptions<CleanupConfig> = {
  service: 'cleanup',
  description: 'Trims what no rule can need any more.',
  port: (config) => config.ADCAP_CLEANUP_PORT,
  setsUndecodableAside: false,
  createHandler: (parts, stack) => {
    const { config, redis, keys, retention, groupId, registry, metrics, clock, logger } = parts;
    const cleaner = createCleaner(redis, { keys, ...retention });
    const cleanupMetrics = createMetrics(registry);
    const handler = createCleanupHandler({
      cleaner,
      offsets: createAppliedOffsets(redis, keys, groupId),
      memory: createTrimMemory({ intervalMs: config.ADCAP_CLEANUP_TRIM_INTERVAL_MS }),
      clock,
      logger,
      metrics,
      cleanupMetrics,
    });
    const stopScanning = scanForStrays({
      cleaner,
      redis,
      keysPerStep: config.ADCAP_CLEANUP_SCAN_KEYS,
      intervalMs: config.ADCAP_CLEANUP_SCAN_INTERVAL_MS,
      metrics: cleanupMetrics,
      logger,
    });
    stack.defer(stopScanning);
    return handler;
  },
};
