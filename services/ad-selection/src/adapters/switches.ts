import { type EpochMs, epochMs } from '@adcap/contracts';
import type { SharedState } from '@adcap/redis-windows';
import type { Logger } from '@adcap/service-runtime';
import { Deadline } from './deadline.ts';

export const SWITCHES = ['decide-from-history', 'answer-open'] as const;
type SwitchName = (typeof SWITCHES)[number];

type SwitchState = { name: SwitchName; on: boolean; until: EpochMs | null };

/** What an operator has switched, in every instance of the service. */
export type Switches = {
  isOn(name: SwitchName): boolean;
  list(): SwitchState[];
  /**
   * Acts at once; `until` null turns it off. Answers whether the other instances can know: false while Redis is away, and
   * then they are told as soon as it is back. Never throws.
   */
  change(name: SwitchName, until: EpochMs | null): Promise<boolean>;
  /** Takes over what others have changed since, and tells what Redis lacks. */
  merge(shared: ReadonlyMap<string, string>): void;
  /** Logs what has ended by itself. */
  noteExpired(): void;
};

/** Off is a change like any other, with nothing left of its time: it must win over an older "on". */
type Change = { until: EpochMs; changedAt: EpochMs };

const NEVER_CHANGED: Change = { until: epochMs(0), changedAt: epochMs(0) };
/** How long an operator waits to hear whether it is shared. */
const SHARE_WITHIN_MS = 500;

const encode = ({ until, changedAt }: Change): string => `${until}:${changedAt}`;

/** What is not in this form, somebody else wrote; it changes nothing. */
const decode = (text: string | undefined): Change => {
  const [, until, changedAt] = /^(\d{1,15}):(\d{1,15})$/.exec(text ?? '') ?? [];
  return until === undefined || changedAt === undefined
    ? NEVER_CHANGED
    : { until: epochMs(Number(until)), changedAt: epochMs(Number(changedAt)) };
};

/**
 * The newest change of each switch wins, wherever it was made: so a Redis that was away, was emptied or came back older
 * neither turns a switch off nor brings an old one back.
 */
export const createSwitches = (deps: {
  state: Pick<SharedState, 'putSwitch'>;
  nowMs: () => EpochMs;
  logger: Pick<Logger, 'info' | 'warn'>;
}): Switches => {
  const { state, nowMs, logger } = deps;
  const changes = new Map<SwitchName, Change>();
  const running = new Set<SwitchName>();

  const changeOf = (name: SwitchName): Change => changes.get(name) ?? NEVER_CHANGED;
  const isOn = (name: SwitchName): boolean => changeOf(name).until > nowMs();

  const take = (name: SwitchName, change: Change, by: 'request' | 'another instance'): void => {
    changes.set(name, change);
    const on = isOn(name);
    if (on) running.add(name);
    else if (!running.delete(name)) return;
    logger.warn({ switch: name, on, until: on ? change.until : null, by }, 'an operator switch has changed');
  };

  const share = async (name: SwitchName): Promise<boolean> => {
    try {
      await new Deadline(SHARE_WITHIN_MS).race(state.putSwitch(name, encode(changeOf(name))));
      return true;
    } catch {
      return false;
    }
  };

  return {
    isOn,
    list: () =>
      SWITCHES.map((name) => ({ name, on: isOn(name), until: isOn(name) ? changeOf(name).until : null })),
    change: (name, until) => {
      const changedAt = epochMs(Math.max(nowMs(), changeOf(name).changedAt + 1));
      take(name, { until: until ?? epochMs(0), changedAt }, 'request');
      return share(name);
    },
    merge: (shared) => {
      for (const name of SWITCHES) {
        const theirs = decode(shared.get(name));
        const ours = changeOf(name);
        if (theirs.changedAt > ours.changedAt) take(name, theirs, 'another instance');
        else if (theirs.changedAt < ours.changedAt && (isOn(name) || theirs.until > nowMs()))
          void share(name);
      }
    },
    noteExpired: () => {
      for (const name of running) {
        if (isOn(name)) continue;
        running.delete(name);
        logger.info({ switch: name }, 'an operator switch has expired');
      }
    },
  };
};
