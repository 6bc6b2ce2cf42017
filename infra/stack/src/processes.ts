export * from './say.ts';
export * from './service-process.ts';
export * from './stop-signal.ts';
export * from './wait-until-ready.ts';
