import type { EpochMs } from '@adcap/contracts';
import type { DecisionStore, SharedState } from '@adcap/redis-windows';
import type { Logger } from '@adcap/service-runtime';
import { createAppliedUntil } from './adapters/applied-until.ts';
import { pollSharedState } from './adapters/poll-shared-state.ts';
import { createSwitches, type Switches } from './adapters/switches.ts';
import type { AsOf } from './freshness.ts';

/** What the other services and instances say, followed beside the decisions. */
export type FollowedState = {
  asOf: AsOf;
  /** Of the partition that is furthest behind. */
  oldestAsOf: () => EpochMs | undefined;
  switches: Switches;
  /** Resolves with the first reading, or when there is none to be had. */
  first: Promise<void>;
  /** The same store; each decision is read behind what is followed here. */
  before(store: DecisionStore): DecisionStore;
  close(): Promise<void>;
};

export const followSharedState = (deps: {
  state: SharedState;
  nowMs: () => EpochMs;
  logger: Pick<Logger, 'info' | 'warn'>;
}): FollowedState => {
  const { state } = deps;
  const appliedUntil = createAppliedUntil(() => state.epoch());
  const switches = createSwitches(deps);
  const poll = pollSharedState({
    state,
    onReading: (reading) => {
      appliedUntil.note(reading);
      switches.merge(reading.switches);
    },
    onTurn: () => switches.noteExpired(),
  });
  return {
    asOf: (deviceId, source) => appliedUntil.of(deviceId, source),
    oldestAsOf: () => appliedUntil.oldest(),
    switches,
    first: poll.first,
    before: (store) => ({
      ...store,
      read: (request) => {
        poll.refresh();
        return store.read(request);
      },
    }),
    close: () => poll.close(),
  };
};
