import { DIMENSIONS, type EpochMs, epochMs } from '@adcap/contracts';
import { type Ad, valuesOf } from './ad.ts';
import type { Circumstances } from './applies.ts';
import type { CompiledRule, CompiledRules } from './compile-rules.ts';
import { genericInContext } from './generic-in-context.ts';
import { resolveLadder } from './ladder.ts';
import { type Known, nextRoom } from './standing.ts';

/** The instants after T at which a rule that the ad can meet begins or ceases to apply, ascending: of thousands, a few. */
const boundariesOf = (rules: CompiledRules, ad: Ad, { at, context }: Circumstances): EpochMs[] => {
  const generic = genericInContext(rules, context);
  const instants = new Set<EpochMs>();
  const look = (met: readonly CompiledRule[] = []): void => {
    for (const { startsAt, endsAt } of met) {
      if (startsAt !== undefined && startsAt > at) instants.add(startsAt);
      if (endsAt !== undefined && endsAt > at) instants.add(endsAt);
    }
  };
  for (const dimension of DIMENSIONS) {
    const values = valuesOf(ad, dimension);
    if (values.length > 0) look(generic[dimension]);
    for (const { value } of values) look(rules.specific[dimension].get(value));
  }
  return [...instants].toSorted((a, b) => a - b);
};

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
  const boundaries = boundariesOf(rules, ad, options);
  for (;;) {
    const ladder = resolveLadder(rules, ad, { at, context: options.context });
    const boundary = boundaries.find((instant) => instant > at);
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
