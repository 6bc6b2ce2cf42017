import { epochMs } from '@adcap/contracts';
import type { DoneMarks as MarkStore } from '@adcap/redis-windows';
import type { DoneMarks } from '../domain/done-marks.ts';

type InsuredMarksDeps = {
  store: MarkStore;
  /** Of one look or one writing; an impression never waits longer for a courtesy. */
  deadlineMs: number;
  onFailure: (error: unknown) => void;
};

const within = async <T>(work: Promise<T>, deadlineMs: number): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // Whatever it still answers, nobody waits for.
    work.catch(() => {});
  }
};

/** The marks in Redis, made to fail open: away or slow, there are none, and everything is published. */
export const createInsuredMarks = ({ store, deadlineMs, onFailure }: InsuredMarksDeps): DoneMarks => ({
  find: async (names) => {
    const items = names.map(({ deviceId, name }) => ({ deviceId, markKey: name }));
    try {
      const found = await within(store.lookup(items), deadlineMs);
      return found.map((at) => (at === undefined ? undefined : epochMs(at)));
    } catch (error) {
      onFailure(error);
      return [];
    }
  },
  write: async (marks) => {
    const items = marks.map(({ deviceId, name, at }) => ({ deviceId, markKey: name, at }));
    try {
      await within(store.mark(items), deadlineMs);
    } catch (error) {
      onFailure(error);
    }
  },
});
