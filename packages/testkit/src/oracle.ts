export * from './naive-oracle.ts';
export * from './world.arbitraries.ts';
export * from './world-to-engine.ts';
