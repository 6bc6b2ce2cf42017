import type { TestProject } from 'vitest/node';
import { startOwnKafka, startOwnRedis } from './own-servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string;
    kafkaBrokers: string;
  }
}

/**
 * One Redis and one Kafka for the whole run, or the ones that ADCAP_TEST_REDIS and ADCAP_TEST_KAFKA name. A server that cannot be
 * had fails the run.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const stack = new AsyncDisposableStack();
  const { ADCAP_TEST_REDIS: redisUrl, ADCAP_TEST_KAFKA: kafkaBrokers } = process.env;
  try {
    project.provide('redisUrl', redisUrl ?? stack.use(await startOwnRedis()).address);
    project.provide('kafkaBrokers', kafkaBrokers ?? stack.use(await startOwnKafka()).address);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
  return () => stack.disposeAsync();
};
