import { AppError, type EpochMs, LIMITS } from '@adcap/contracts';

/** A break may be asked about as far back as impressions are kept, and as far ahead as the contract says. */
export const assertBreakTime = (
  breakAt: EpochMs,
  { nowMs, retentionMs, field = 'breakAt' }: { nowMs: EpochMs; retentionMs: number; field?: string },
): void => {
  if (breakAt >= nowMs - retentionMs && breakAt <= nowMs + LIMITS.breakAheadMs) return;
  const message = `must lie between ${retentionMs / 3_600_000} h ago and ${LIMITS.breakAheadMs / 3_600_000} h ahead`;
  throw new AppError('ADCAP_BREAK_OUT_OF_RANGE', `${field}: ${message}`, {
    fields: [{ field, message }],
  });
};
