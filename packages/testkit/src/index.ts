export { freePort } from '@adcap/local-servers';
export * from './fixtures.ts';
export * from './own-servers.ts';
export * from './wait-for.ts';
