import { type EpochMs, epochMs } from '@adcap/contracts';

/** All that is known about when an ad was watched. */
export type ReportedTimes = {
  receivedAt: EpochMs;
  /** From a monotonic clock of the device. */
  ageMs?: number | undefined;
  /** Both on the device’s clock, so that its error cancels in their difference. */
  sentAt?: EpochMs | undefined;
  playedAt?: EpochMs | undefined;
  /** Whether the sender’s clock may be believed: a producer with a token, never a device. */
  isProducer: boolean;
};

const reportedAgeMs = ({ ageMs, sentAt, playedAt, receivedAt, isProducer }: ReportedTimes): number => {
  if (ageMs !== undefined) return ageMs;
  if (playedAt === undefined) return 0;
  if (sentAt !== undefined) return sentAt - playedAt;
  return isProducer ? receivedAt - playedAt : 0;
};

/**
 * Law 5: when the ad was watched, on the server’s clock, or `undefined` when that is longer ago than the retention.
 * `playedAt` alone says nothing, because device clocks lie by hours and days.
 */
export const impressionTime = (times: ReportedTimes, retentionMs: number): EpochMs | undefined => {
  const ageMs = Math.max(0, Math.round(reportedAgeMs(times)));
  return ageMs > retentionMs ? undefined : epochMs(times.receivedAt - ageMs);
};
