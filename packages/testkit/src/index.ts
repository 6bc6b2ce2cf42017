export { freePort } from '@adcap/local-servers';
export * from './fixtures.ts';
export * from './servers.ts';
