import { type EpochMs, epochMs } from '@adcap/contracts';
import type { Ad } from './ad.ts';
import type { Circumstances } from './applies.ts';
import type { CompiledRules } from './compile-rules.ts';
import { resolveLadder } from './ladder.ts';
import { type Known, nextRoom } from './standing.ts';

/**
 * The earliest instant from T on at which one more view of the ad would fit under every cap, given all that is known:
 * later impressions, reservations and rules that begin or end. `undefined` where a BLOCK never lets go.
 */
export const nextAllowedAt = (
  rules: CompiledRules,
  ad: Ad,
  options: Circumstances & { known: Known },
): EpochMs | undefined => {
  let at: EpochMs = options.at;
  for (;;) {
    const ladder = resolveLadder(rules, ad, { at, context: options.context });
    const boundary = rules.boundaries.find((instant) => instant > at);
    const from = at;
    const fits =
      ladder.block === undefined
        ? epochMs(Math.max(from, ...ladder.caps.map((cap) => nextRoom(cap, options.known, from))))
        : undefined;
    if (fits === at) return at;
    const next = Math.min(fits ?? Number.POSITIVE_INFINITY, boundary ?? Number.POSITIVE_INFINITY);
    if (!Number.isFinite(next)) return undefined;
    at = epochMs(next);
  }
};
