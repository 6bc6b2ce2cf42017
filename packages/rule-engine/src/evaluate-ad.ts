import type { EpochMs } from '@adcap/contracts';
import type { Ad } from './ad.ts';
import type { Circumstances } from './applies.ts';
import type { CompiledRules } from './compile-rules.ts';
import { type Bound, type Cap, type Ladder, resolveLadder, type Witness } from './ladder.ts';
import { nextAllowedAt } from './next-allowed.ts';
import { capStanding, type Known, type Standing } from './standing.ts';

/** A cap with where it stands. */
export type WeighedCap = { cap: Cap; standing: Standing };

/** What one ad may do at T, before the grants of the pod that asks. */
export type Evaluation = {
  ad: Ad;
  allowed: boolean;
  /** How many more may be granted; null where nothing caps. */
  remaining: number | null;
  /** Every cap that applies, in the ladder's order. */
  caps: readonly WeighedCap[];
  /** The cap that decides: the least room, ties to the higher rung. Named also where it still leaves room. */
  binding: WeighedCap | undefined;
  block: Bound | undefined;
  /** Every shadow rule that was looked at. */
  shadow: readonly Bound[];
  /** Those of them that would have blocked. */
  shadowBlocked: readonly Bound[];
  nextAllowedAt: EpochMs | undefined;
};

/** The first cap with the least room. */
export const leastRoom = <T extends { standing: { room: number } }>(caps: readonly T[]): T | undefined => {
  let least: T | undefined;
  for (const weighed of caps) {
    if (least === undefined || weighed.standing.room < least.standing.room) least = weighed;
  }
  return least;
};

const wouldBlock = ({ rule, value }: Bound, known: Known, at: EpochMs): boolean => {
  const { limit } = rule;
  if (limit.kind !== 'cap') return limit.kind === 'block';
  const cap = { rule, value, max: limit.max, windowMs: limit.windowMs };
  return capStanding(cap, known, at).room <= 0;
};

const remainingOf = (ladder: Ladder, binding: WeighedCap | undefined): number | null => {
  if (ladder.block !== undefined) return 0;
  return binding === undefined ? null : Math.max(0, binding.standing.room);
};

/**
 * Law 3 for one ad at T: what applies, what remains, what decides, and when it would next fit.
 *
 * @param isNextWanted false: nobody asks when it would next fit, which costs more than all the rest
 */
export const evaluateAd = (
  rules: CompiledRules,
  ad: Ad,
  options: Circumstances & { known: Known; witness?: Witness; isNextWanted?: boolean },
): Evaluation => {
  const { at, known, isNextWanted = true } = options;
  const ladder = resolveLadder(rules, ad, options);
  const caps = ladder.caps.map((cap) => ({ cap, standing: capStanding(cap, known, at) }));
  const binding = leastRoom(caps);
  const remaining = remainingOf(ladder, binding);
  const allowed = remaining === null || remaining > 0;
  return {
    ad,
    allowed,
    remaining,
    caps,
    binding,
    block: ladder.block,
    shadow: ladder.shadow,
    shadowBlocked: ladder.shadow.filter((bound) => wouldBlock(bound, known, at)),
    nextAllowedAt:
      allowed || ladder.block !== undefined || !isNextWanted ? undefined : nextAllowedAt(rules, ad, options),
  };
};
