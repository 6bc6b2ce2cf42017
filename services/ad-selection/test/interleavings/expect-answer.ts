import { isDeepStrictEqual } from 'node:util';
import { AppError, type EpochMs, epochMs, type SelectionAnswer } from '@adcap/contracts';
import { breakKeyOf, type ReservationTokens, reservationFingerprint, valueKeyOf } from '@adcap/identity';
import type { CompiledRules } from '@adcap/rule-engine';
import type { Ask, Setting } from '../../src/domain/ask.ts';
import { type Decision, decide } from '../../src/domain/decide.ts';
import { type Selection, tell, tellEmpty } from '../../src/domain/tell.ts';
import { commit, type DeviceState, instantsBetween, watchedBy } from './device-state.ts';

/** What a process said to an ask, and when it was asked and answered. */
export type Answered = {
  ask: Ask & { deviceId: string };
  /** The answer, or the code of the refusal. */
  said: SelectionAnswer | { code: string };
  from: EpochMs;
  to: EpochMs;
};

export type World = {
  graceMs: number;
  tokens: ReservationTokens;
  rulesOf: (version: number) => CompiledRules;
  /** The versions that an answer that names none may have been decided under. */
  versions: () => readonly number[];
  /** The newest version that was in the topic by an instant. */
  newestBefore: (at: number) => number;
};

/** Rules act in every process within so long. */
const SPREAD_MS = 2_000;

const isRefusal = (said: Answered['said']): said is { code: string } => 'code' in said;

/** A break is over when its ads have been shown, and its grace: what it may have been when it was asked about. */
const LONGEST_SHORT_POD_MS = 10;

/** The instants at which an answer may have been decided: where it granted something, the one that the grant names. */
const momentsOf = (state: DeviceState, { ask, said, from, to }: Answered, world: World): EpochMs[] => {
  const granted = isRefusal(said)
    ? []
    : said.pod.map(({ reservationId }) => world.tokens.verify(reservationId)?.grantedAt ?? 0);
  const grantedAt = Math.max(0, ...granted);
  if (grantedAt >= from - 1) return [epochMs(grantedAt)];
  const overAt = ask.breakAt + world.graceMs;
  const mayHaveEnded = overAt <= to && overAt + LONGEST_SHORT_POD_MS >= from;
  return [...instantsBetween(state, { from, to }), ...(mayHaveEnded ? [to] : [])];
};

/** The parts of an answer that a decision makes. Where the caller chose the ads itself, it hears of those that were refused. */
const comparable = (
  { candidates, pod, unfilled, reserved, rulesVersion }: SelectionAnswer,
  { isFixed }: Ask,
): unknown =>
  JSON.parse(
    JSON.stringify({
      candidates: isFixed ? candidates.filter(({ outcome }) => outcome !== 'placed') : candidates,
      pod,
      unfilled: isFixed ? null : unfilled,
      reserved,
      rulesVersion,
    }),
  );

const isAnswer = ({ ask, said }: Answered, make: () => Selection): boolean => {
  try {
    const { answer } = make();
    return !isRefusal(said) && isDeepStrictEqual(comparable(said, ask), comparable(answer, ask));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return isRefusal(said) && said.code === error.code;
  }
};

type Moment = { nowMs: EpochMs; rules: CompiledRules; world: World };

const decideAt = (state: DeviceState, answered: Answered, { nowMs, rules, world }: Moment) => {
  const { ask, said } = answered;
  const breakKey = breakKeyOf(ask.sessionId, ask.breakId);
  const tokenOf = (slot: number): string =>
    (isRefusal(said) ? undefined : said.pod.find((place) => place.slot === slot)?.reservationId) ?? 'none';
  const podBefore = state.pods.get(breakKey);
  const isIncomplete = !isRefusal(said) && said.degradedReason === 'history_incomplete';
  const knowledge = {
    views: watchedBy(state, isIncomplete ? ['window'] : undefined),
    reservations: state.reservations.filter(({ expiresAt }) => expiresAt > nowMs),
    stored: podBefore !== undefined && podBefore.expiresAt > nowMs ? podBefore : undefined,
  };
  const setting: Setting = {
    rules,
    source: isRefusal(said) ? 'quotas' : said.source,
    breakKey,
    nowMs,
    graceMs: world.graceMs,
    keyOf: valueKeyOf,
    grant: ({ slot }) => tokenOf(slot),
    idOf: (reservationId) => reservationFingerprint(ask.deviceId, reservationId),
  };
  const decision: Decision = decide(ask, knowledge, setting);
  const quotas = (): Decision => decide({ ...ask, slots: [] }, knowledge, setting);
  return { breakKey, decision, quotas, stored: knowledge.stored };
};

const FAILED_COMMITS: readonly string[] = ['commit_late', 'store_error'];

const isOutdated = ({ said, from }: Answered, decision: Decision, world: World): boolean =>
  !isRefusal(said) &&
  decision.kind === 'decided' &&
  (said.rulesVersion ?? 0) < world.newestBefore(from - SPREAD_MS);

/** The states in which a device may be after this answer at this moment; none where it could not have been given. */
const after = (state: DeviceState, answered: Answered, moment: Moment): DeviceState[] => {
  const { ask, said } = answered;
  const { breakKey, decision, quotas, stored } = decideAt(state, answered, moment);
  if (isOutdated(answered, decision, moment.world)) return [];
  const told = {
    source: 'quotas' as const,
    reason: undefined,
    rulesVersion: moment.rules.version,
    asOf: null,
    serverTime: answered.to,
  };
  const reason = isRefusal(said) ? undefined : said.degradedReason;
  // Others were faster, and then the device could not be read again.
  if (reason !== undefined && isAnswer(answered, () => tellEmpty(ask, quotas(), { ...told, reason })))
    return [state];
  const writing = decision.kind === 'refused' ? undefined : decision.writing;
  if (reason !== undefined && FAILED_COMMITS.includes(reason)) {
    if (!isAnswer(answered, () => tell(ask, decision, { ...told, reserved: false }))) return [];
    if (writing === undefined) return [];
    const ghost = { breakKey, writing, podBefore: stored };
    const haunted = commit(state, breakKey, writing);
    return [state, { ...haunted, ghosts: [...state.ghosts, ghost] }];
  }
  const reserved = writing !== undefined || decision.kind === 'stored';
  if (!isAnswer(answered, () => tell(ask, decision, { ...told, reserved }))) return [];
  return [writing === undefined ? state : commit(state, breakKey, writing)];
};

/** Every state that an answer may leave, over all moments and rules under which it may have been given. */
export const statesAfter = (state: DeviceState, answered: Answered, world: World): DeviceState[] => {
  const { said } = answered;
  // Nothing was read and nothing is held.
  if (!isRefusal(said) && said.source === 'open') return [state];
  const named = isRefusal(said) ? null : said.rulesVersion;
  const versions = named === null ? world.versions() : [named];
  for (const version of versions) {
    for (const nowMs of momentsOf(state, answered, world)) {
      const states = after(state, answered, { nowMs, rules: world.rulesOf(version), world });
      if (states.length > 0) return states;
    }
  }
  return [];
};
