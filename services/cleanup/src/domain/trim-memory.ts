import type { EpochMs } from '@adcap/contracts';
import { LRUCache } from 'lru-cache';

/** When which device was trimmed. Whom it has forgotten is trimmed once too often, which costs a call and nothing else. */
export type TrimMemory = {
  /** Those of the devices (one entry an impression) that are to be trimmed now, each once. */
  due(deviceIds: readonly string[], nowMs: EpochMs): string[];
  noteTrimmed(deviceIds: readonly string[], nowMs: EpochMs): void;
};

/** Some 20 MB, and an interval's worth of devices at 1,500 impressions a second. */
const REMEMBERED_DEVICES = 100_000;
/** Before the interval is over, so that a flood of one device stays near the bound on its impressions. */
const IMPRESSIONS_BETWEEN_TRIMS = 256;

type Trimmed = { atMs: EpochMs; impressionsSince: number };

const countEach = (deviceIds: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const deviceId of deviceIds) counts.set(deviceId, (counts.get(deviceId) ?? 0) + 1);
  return counts;
};

export const createTrimMemory = (settings: { intervalMs: number; maxDevices?: number }): TrimMemory => {
  const { intervalMs, maxDevices = REMEMBERED_DEVICES } = settings;
  const remembered = new LRUCache<string, Trimmed>({ max: maxDevices });

  const isDue = (trimmed: Trimmed, nowMs: EpochMs): boolean => {
    const elapsedMs = nowMs - trimmed.atMs;
    // Negative when the clock was put back: nobody waits until it is there again.
    const isRecent = elapsedMs >= 0 && elapsedMs < intervalMs;
    return !isRecent || trimmed.impressionsSince >= IMPRESSIONS_BETWEEN_TRIMS;
  };

  return {
    due: (deviceIds, nowMs) =>
      [...countEach(deviceIds)].flatMap(([deviceId, impressions]) => {
        const trimmed = remembered.get(deviceId);
        if (trimmed === undefined) return [deviceId];
        trimmed.impressionsSince += impressions;
        return isDue(trimmed, nowMs) ? [deviceId] : [];
      }),
    noteTrimmed: (deviceIds, nowMs) => {
      for (const deviceId of deviceIds) remembered.set(deviceId, { atMs: nowMs, impressionsSince: 0 });
    },
  };
};
