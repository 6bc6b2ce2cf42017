export * from './consumer-main.contract.ts';
export * from './testing.ts';
