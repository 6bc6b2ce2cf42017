import type { EpochMs } from '@adcap/contracts';
import { type Cleaner, type Freed, isRetryableStoreError } from '@adcap/redis-windows';

/** What became of a trim: which devices were trimmed, and which Redis will never trim as they are. */
export type Trimmed =
  | { kind: 'done'; freed: Freed; refused: ReadonlyMap<string, unknown> }
  | { kind: 'retry'; cause: unknown };

const NOTHING: Freed = { window: 0, history: 0, reservations: 0 };

const sum = (all: readonly Freed[]): Freed => ({
  window: all.reduce((total, { window }) => total + window, 0),
  history: all.reduce((total, { history }) => total + history, 0),
  reservations: all.reduce((total, { reservations }) => total + reservations, 0),
});

/** One by one, to find the devices that are refused; the others are none the worse for being trimmed again. */
const trimEach = async (
  cleaner: Pick<Cleaner, 'trim'>,
  deviceIds: readonly string[],
  nowMs: EpochMs,
): Promise<Trimmed> => {
  const refused = new Map<string, unknown>();
  const retried: unknown[] = [];
  const freed = await Promise.all(
    deviceIds.map(async (deviceId) => {
      try {
        return await cleaner.trim([deviceId], nowMs);
      } catch (error) {
        if (isRetryableStoreError(error)) retried.push(error);
        else refused.set(deviceId, error);
        return NOTHING;
      }
    }),
  );
  return retried.length > 0
    ? { kind: 'retry', cause: retried[0] }
    : { kind: 'done', freed: sum(freed), refused };
};

/** Trims all together where that works. Never throws: a device that cannot be trimmed stops no other. */
export const trimDevices = async (
  cleaner: Pick<Cleaner, 'trim'>,
  deviceIds: readonly string[],
  nowMs: EpochMs,
): Promise<Trimmed> => {
  if (deviceIds.length === 0) return { kind: 'done', freed: NOTHING, refused: new Map() };
  try {
    return { kind: 'done', freed: await cleaner.trim(deviceIds, nowMs), refused: new Map() };
  } catch (cause) {
    return isRetryableStoreError(cause) ? { kind: 'retry', cause } : trimEach(cleaner, deviceIds, nowMs);
  }
};
