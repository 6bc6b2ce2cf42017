export * from './cache-folder.ts';
export * from './kafka-admin.ts';
export * from './load-topics.ts';
export * from './local-server.ts';
export * from './local-server-error.ts';
export * from './ports.ts';
export * from './start-kafka.ts';
export * from './start-redis.ts';
