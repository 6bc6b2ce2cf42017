import type { EpochMs } from '@adcap/contracts';
import type { DoneMarks } from '../src/domain/done-marks.ts';

/** Marks that never expire and count their round trips; `forget` is a store that was wiped. */
export const createInMemoryMarks = () => {
  const marks = new Map<string, EpochMs>();
  const calls = { find: 0, write: 0 };
  const store: DoneMarks = {
    find: async (names) => {
      calls.find += 1;
      return names.map(({ name }) => marks.get(name));
    },
    write: async (written) => {
      calls.write += 1;
      for (const { name, at } of written) marks.set(name, at);
    },
  };
  return { ...store, calls, forget: () => marks.clear() };
};
