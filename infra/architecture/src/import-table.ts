/** What the sources of one workspace folder may import. `ours` without the scope. */
export type Allowance = { ours: readonly string[]; thirdParty: readonly string[]; node: boolean };

const domain = ['contracts', 'rule-engine'];
const service = (thirdParty: readonly string[], ...ours: string[]): Allowance => ({
  ours: [...domain, 'identity', 'redis-windows', 'kafka-bus', 'rules-feed', 'service-runtime', ...ours],
  thirdParty: ['zod', 'prom-client', ...thirdParty],
  node: true,
});
const http = ['fastify', 'fastify-type-provider-zod'];

/**
 * Dependencies point one way: contracts ← rule-engine, identity ← redis-windows, kafka-bus ← rules-feed ← services.
 * Siblings never know each other, a service never knows another, and what is pure imports nothing that acts.
 */
export const IMPORT_TABLE: Readonly<Record<string, Allowance>> = {
  'packages/contracts': { ours: [], thirdParty: ['zod'], node: false },
  'packages/rule-engine': { ours: ['contracts'], thirdParty: [], node: false },
  'packages/identity': { ours: ['contracts'], thirdParty: ['lru-cache'], node: true },
  'packages/redis-windows': { ours: [...domain, 'identity'], thirdParty: ['ioredis', 'zod'], node: true },
  'packages/kafka-bus': { ours: ['contracts'], thirdParty: ['kafkajs', 'zod'], node: true },
  'packages/rules-feed': {
    ours: [...domain, 'redis-windows', 'kafka-bus'],
    thirdParty: ['yaml'],
    node: true,
  },
  'packages/service-runtime': {
    ours: ['contracts'],
    thirdParty: [
      ...http,
      '@fastify/rate-limit',
      '@fastify/swagger',
      '@fastify/swagger-ui',
      'pino',
      'prom-client',
      'zod',
    ],
    node: true,
  },
  'packages/impression-consumer': service(http),
  'packages/cli': { ours: domain, thirdParty: ['commander', 'yaml', 'zod'], node: true },
  'packages/client-sdk': { ours: ['contracts'], thirdParty: [], node: false },
  'packages/local-servers': {
    ours: ['kafka-bus'],
    thirdParty: ['testcontainers', 'ioredis', 'fflate'],
    node: true,
  },
  'packages/testkit': {
    ours: [...domain, 'local-servers', 'identity', 'redis-windows', 'kafka-bus', 'client-sdk'],
    thirdParty: ['vitest', 'fast-check', 'ioredis'],
    node: true,
  },
  'services/beacon': service([...http, '@fastify/cors']),
  'services/history': service([], 'impression-consumer'),
  'services/quota': service([], 'impression-consumer'),
  'services/cleanup': service(['lru-cache'], 'impression-consumer'),
  'services/ad-selection': service([...http, 'opossum']),
  'services/rules': service([...http, 'yaml']),
  'infra/architecture': { ours: [], thirdParty: [], node: true },
  'infra/stack': {
    ours: ['contracts', 'local-servers', 'client-sdk'],
    thirdParty: ['yaml', 'zod'],
    node: true,
  },
  'infra/e2e': { ours: [], thirdParty: [], node: true },
  'infra/examples': { ours: ['client-sdk', 'local-servers', 'stack'], thirdParty: [], node: true },
  'infra/faults': {
    ours: ['contracts', 'identity', 'local-servers', 'redis-windows', 'stack', 'testkit'],
    thirdParty: [],
    node: true,
  },
  'infra/mutants': { ours: ['local-servers'], thirdParty: [], node: true },
  'infra/topics': { ours: ['kafka-bus'], thirdParty: [], node: true },
};

/** The only homes of the two clients; tests and local servers may also speak to the servers directly. */
export const CLIENT_HOMES: Readonly<Record<string, readonly string[]>> = {
  ioredis: ['packages/redis-windows', 'packages/local-servers', 'packages/testkit'],
  kafkajs: ['packages/kafka-bus'],
};
