import type { SelectionRequestInput } from '@adcap/contracts';
import { rulesOf } from './start-selection.ts';

/** A cap on every creative, and one creative that never plays. */
export const capAndBlock = (max: number) =>
  rulesOf([
    { dimension: 'creative', limit: { max, window: '60m' } },
    { id: 'never', dimension: 'creative', value: 'bad', limit: 'BLOCK' },
  ]);

/** A break of one slot, for the blocked creative or another one. */
export const askFor = (
  of: { deviceId: string; breakId: string },
  more: Partial<SelectionRequestInput> = {},
) => ({
  ...of,
  breakAt: Date.now(),
  slots: 1,
  candidates: [{ creativeId: 'bad' }, { creativeId: 'c1' }],
  ...more,
});

/** How that is answered by one that knows nothing. */
export const OPEN = {
  source: 'open',
  degraded: true,
  reserved: false,
  candidates: [{ outcome: 'capped' }, { outcome: 'placed', remaining: null }],
};
