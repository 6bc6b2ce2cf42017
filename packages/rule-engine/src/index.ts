export * from './ad.ts';
export * from './view.ts';
