import { type EpochMs, type Fingerprint, NO_VALUE, type ValueKey } from '@adcap/contracts';
import type { Ad } from './ad.ts';

/**
 * Something that counts in windows at one instant, under the values it had then (law 9). Keys are 48-bit; `NO_VALUE`
 * stands for a dimension that it has no value in.
 */
export type View = {
  at: EpochMs;
  creative: ValueKey;
  campaign: ValueKey;
  brand: ValueKey;
  industries: readonly ValueKey[];
};

/** The values that an ad counts under, repeated industries folded. */
export const countedAs = ({ creative, campaign, brand, industries }: Ad): Omit<View, 'at'> => ({
  creative: creative.key,
  campaign: campaign?.key ?? NO_VALUE,
  brand: brand?.key ?? NO_VALUE,
  industries: [...new Set(industries.map(({ key }) => key))],
});

/**
 * A slot promised to an ad; counts at `at`, the instant of its break, while it is live. `id` is the fingerprint that
 * the impression which answers it will have.
 */
export type Reservation = View & {
  id: Fingerprint;
  breakKey: string;
  slot: number;
  expiresAt: EpochMs;
  /** Redis TIME of the decision that made it; a move keeps it. */
  grantedAt: EpochMs;
};
