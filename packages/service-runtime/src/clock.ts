import { type EpochMs, epochMs } from '@adcap/contracts';

/** The one source of "now"; injected at the edge so that everything behind it takes time as an argument. */
export type Clock = { nowMs(): EpochMs };

/** The clock of the machine. */
export const systemClock: Clock = { nowMs: () => epochMs(Date.now()) };
