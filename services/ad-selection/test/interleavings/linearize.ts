import { type DeviceState, layGhost, nameOf } from './device-state.ts';

/** Something that happened at one moment: what a state may have become through it, or nothing if it cannot have been then. */
export type Happening = {
  what: string;
  after: (state: DeviceState) => readonly DeviceState[];
  /** What is known to have been before it. */
  follows?: Happening | undefined;
};

/**
 * All states in which a device may be after things that happened at once: some order of them, each as if it had been alone,
 * explains every answer. None: something was lost or counted twice.
 */
export const linearize = (
  states: readonly DeviceState[],
  happenings: readonly Happening[],
): DeviceState[] => {
  const ends = new Map<string, DeviceState>();
  const seen = new Set<string>();
  const walk = (state: DeviceState, rest: readonly Happening[]): void => {
    const key = `${rest.map((one) => happenings.indexOf(one)).join()} ${nameOf(state)}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (rest.length === 0) ends.set(nameOf(state), state);
    for (const ghost of state.ghosts) walk(layGhost(state, ghost), rest);
    for (const next of rest) {
      if (next.follows !== undefined && rest.includes(next.follows)) continue;
      for (const after of next.after(state))
        walk(
          after,
          rest.filter((one) => one !== next),
        );
    }
  };
  for (const state of states) walk(state, happenings);
  return [...ends.values()];
};
