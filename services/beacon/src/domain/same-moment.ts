import { type EpochMs, type ImpressionEvent, SAME_MOMENT_MS } from '@adcap/contracts';

/** Law 7: whether two views of one device and creative, with nothing else to tell them apart, are one. */
const isSameMoment = (one: EpochMs | number, other: EpochMs | number): boolean =>
  Math.abs(one - other) < SAME_MOMENT_MS;

/**
 * Which views of one device and creative, in the order of their arrival, count anew. Each is measured against the last
 * one that counted, so that a player which repeats itself every 20 seconds is not one endless view.
 */
export const countedMoments = (
  views: readonly ImpressionEvent[],
  lastCountedAt: EpochMs | undefined,
): ReadonlySet<ImpressionEvent> => {
  const counted = new Set<ImpressionEvent>();
  let last: number | undefined = lastCountedAt;
  for (const view of views) {
    if (last !== undefined && isSameMoment(view.at, last)) continue;
    counted.add(view);
    last = view.at;
  }
  return counted;
};
