import type { SelectionAnswer } from '@adcap/contracts';
import type { DecisionLog } from './adapters/decision-log.ts';
import { DeviceTurns } from './adapters/device-turns.ts';
import type { Ask } from './domain/ask.ts';
import type { Selection } from './domain/tell.ts';
import type { AdSelectionMetrics } from './metrics.ts';
import type { SelectBreak } from './select-break.ts';

export type DecideInTurnDeps = {
  selectBreak: SelectBreak;
  metrics: AdSelectionMetrics;
  log: DecisionLog;
  deadlineMs: number;
  maxInFlight: number;
  /** Whether an operator has switched to answering everything open. */
  isSwitchedOpen: () => boolean;
};

/** Answers an ask; `deadlineMs` can only shorten what is configured. */
export type DecideInTurn = {
  decide(ask: Ask, deadlineMs?: number): Promise<SelectionAnswer>;
  inFlight(): number;
};

/**
 * One decision per device at a time, its deadline starting with its turn, and a bound on all of them: past it the answer is open at
 * once. Failure policy: as SelectBreak.
 */
export const createDecideInTurn = (deps: DecideInTurnDeps): DecideInTurn => {
  const turns = new DeviceTurns();
  let inFlight = 0;

  const measured = async (ask: Ask, deadlineMs: number): Promise<Selection> => {
    const done = deps.metrics.duration.startTimer();
    try {
      return await deps.selectBreak.select(ask, deadlineMs);
    } finally {
      done();
    }
  };

  const selected = async (ask: Ask, deadlineMs: number): Promise<Selection> => {
    if (ask.deviceId !== undefined && deps.isSwitchedOpen())
      return deps.selectBreak.open(ask, 'switched_open');
    if (inFlight >= deps.maxInFlight) return deps.selectBreak.open(ask, 'overload');
    inFlight += 1;
    try {
      const work = () => measured(ask, deadlineMs);
      return await (ask.deviceId === undefined ? work() : turns.take(ask.deviceId, work));
    } finally {
      inFlight -= 1;
    }
  };

  return {
    decide: async (ask, deadlineMs) => {
      const selection = await selected(ask, Math.min(deadlineMs ?? deps.deadlineMs, deps.deadlineMs));
      const { answer } = selection;
      deps.metrics.decided(selection);
      deps.log(ask, answer);
      return answer;
    },
    inFlight: () => inFlight,
  };
};
