import type { DegradedReason, EpochMs, Source } from '@adcap/contracts';

/** The receive time up to which what a source holds of a device had been applied; undefined where it is not known. */
export type AsOf = (deviceId: string, source: Source) => EpochMs | undefined;

/** What an answer that has counted says about how fresh it is. */
export type Freshness = (
  deviceId: string,
  of: { source: Source; reason: DegradedReason | undefined },
) => { asOf: EpochMs | null; reason: DegradedReason | undefined };

export const isBehind = (
  asOf: EpochMs | undefined,
  { nowMs, staleAfterMs }: { nowMs: EpochMs; staleAfterMs: number },
): boolean => asOf === undefined || nowMs - asOf > staleAfterMs;

/** Never silently stale: an answer from old or unknown impressions is degraded, unless it already is for another reason. */
export const createFreshness =
  (deps: { asOf: AsOf; nowMs: () => EpochMs; staleAfterMs: number }): Freshness =>
  (deviceId, { source, reason }) => {
    const asOf = deps.asOf(deviceId, source);
    const staleness = isBehind(asOf, { nowMs: deps.nowMs(), staleAfterMs: deps.staleAfterMs })
      ? 'behind'
      : undefined;
    return { asOf: asOf ?? null, reason: reason ?? staleness };
  };
