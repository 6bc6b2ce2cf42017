import type { BusLogger } from '../src/bus-settings.ts';

export const quietLogger: BusLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
