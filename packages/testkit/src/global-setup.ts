import { kafkaAnswers, type LocalServer, redisAnswers } from '@adcap/local-servers';
import type { TestProject } from 'vitest/node';
import { startOwnKafka, startOwnRedis } from './own-servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string;
    kafkaBrokers: string;
  }
}

type Source = {
  /** The environment variable that names a server which runs already. */
  variable: string;
  answers: (address: string) => Promise<void>;
  start: () => Promise<LocalServer>;
};

const REDIS: Source = { variable: 'ADCAP_TEST_REDIS', answers: redisAnswers, start: startOwnRedis };
const KAFKA: Source = { variable: 'ADCAP_TEST_KAFKA', answers: kafkaAnswers, start: startOwnKafka };

const addressOf = async (source: Source, stack: AsyncDisposableStack): Promise<string> => {
  const given = process.env[source.variable];
  if (given === undefined || given === '') return stack.use(await source.start()).address;
  await source.answers(given).catch((cause: unknown) => {
    throw new Error(`nothing answers at the address in ${source.variable}: start it, or unset that`, {
      cause,
    });
  });
  return given;
};

/**
 * One Redis and one Kafka for the whole run, or the ones that ADCAP_TEST_REDIS and ADCAP_TEST_KAFKA name. A server that cannot be
 * had fails the run.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const stack = new AsyncDisposableStack();
  try {
    project.provide('redisUrl', await addressOf(REDIS, stack));
    project.provide('kafkaBrokers', await addressOf(KAFKA, stack));
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
  return () => stack.disposeAsync();
};
