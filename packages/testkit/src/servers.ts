export * from './fault-proxy.ts';
export * from './own-servers.ts';
export * from './redis-control.ts';
export * from './wait-for.ts';
