import { type EpochMs, type ImpressionEvent, SAME_MOMENT_MS } from '@adcap/contracts';

/** Law 7: whether two views of one device and creative, with nothing else to tell them apart, are one. */
const isSameMoment = (one: number, other: number): boolean => Math.abs(one - other) < SAME_MOMENT_MS;

/**
 * Which views of one device and creative, in the order of their arrival, count anew. Each is measured against those that
 * counted, so that a player which repeats itself every 20 seconds is not one endless view. Of the ones before this request
 * only the last is known here; the consumers know all of them.
 */
export const countedMoments = (
  views: readonly ImpressionEvent[],
  lastCountedAt: EpochMs | undefined,
): ReadonlySet<ImpressionEvent> => {
  const counted = new Set<ImpressionEvent>();
  const instants: number[] = lastCountedAt === undefined ? [] : [lastCountedAt];
  for (const view of views) {
    if (instants.some((instant) => isSameMoment(view.at, instant))) continue;
    counted.add(view);
    instants.push(view.at);
  }
  return counted;
};
