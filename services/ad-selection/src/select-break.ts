import {
  AppError,
  type DegradedReason,
  type EpochMs,
  epochMs,
  type SelectionAnswer,
  type Source,
} from '@adcap/contracts';
import { breakKeyOf, type ReservationTokens, reservationFingerprint, valueKeyOf } from '@adcap/identity';
import type { CommitOutcome, DecisionReading, DecisionStore } from '@adcap/redis-windows';
import { type CompiledRules, compileRules, type View } from '@adcap/rule-engine';
import { Deadline, DeadlineExceeded } from './adapters/deadline.ts';
import type { GuardedRead } from './adapters/guarded-read.ts';
import type { Ask, Knowledge, Setting } from './domain/ask.ts';
import { type Decision, decide, type Writing } from './domain/decide.ts';
import { parseStoredPod } from './domain/stored-pod.ts';
import { withoutCounts } from './domain/without-counts.ts';

export type SelectDeps = {
  read: GuardedRead;
  store: Pick<DecisionStore, 'readHistory' | 'commit' | 'release'>;
  rules: () => CompiledRules | undefined;
  tokens: Pick<ReservationTokens, 'sign'>;
  nowMs: () => EpochMs;
  graceMs: number;
  decideFrom: 'quotas' | 'history';
  onConflict: () => void;
  onUndone: () => void;
  onFailure: (error: unknown, message: string) => void;
};

/** An answer with what metrics want to know beside it. */
export type Selection = { answer: SelectionAnswer; shadow: readonly string[] };

type Told = { source: Source; reserved: boolean; reason?: DegradedReason | undefined };
type Device = { deviceId: string; breakKey: string };

/** Conflicts with other processes before the slots are left empty. */
const MAX_CONFLICTS = 3;
const NO_RULES = compileRules({ version: 0, dimensions: {}, rules: [] });
const NOTHING: Knowledge = { views: [], reservations: [], stored: undefined };

const shadowOf = (decision: Decision): string[] =>
  decision.kind === 'decided'
    ? decision.judged.flatMap(({ evaluation }) => evaluation.shadowBlocked.map(({ rule }) => rule.id))
    : [];

/**
 * Decides a break: one read, one commit, one deadline over both. Failure policy: fails open before anything was read, keeps to
 * the quotas after (law 11); throws AppError for what the caller asked wrongly.
 */
export const createSelectBreak = (deps: SelectDeps) => {
  const settingFor = (ask: Ask, rules: CompiledRules, from: { source: Source; nowMs: EpochMs }): Setting => {
    const deviceId = ask.deviceId ?? '';
    const idOf = (reservationId: string) => reservationFingerprint(deviceId, reservationId);
    return {
      rules,
      ...from,
      breakKey: breakKeyOf(ask.sessionId, ask.breakId),
      graceMs: deps.graceMs,
      keyOf: valueKeyOf,
      idOf,
      grant: ({ slot, facts }) => {
        const { exempt: _exempt, ...claims } = facts;
        const reservationId = deps.tokens.sign({
          ...claims,
          deviceId,
          sessionId: ask.sessionId,
          breakId: ask.breakId,
          slot,
          grantedAt: from.nowMs,
        });
        return { reservationId, id: idOf(reservationId) };
      },
    };
  };

  const tell = (ask: Ask, decision: Decision, told: Told): Selection => {
    if (decision.kind === 'refused') throw new AppError(decision.code, decision.detail);
    const { rulesVersion, source, candidates, pod, unfilled } =
      decision.kind === 'stored'
        ? decision.round
        : { ...decision.decided, source: told.source, rulesVersion: deps.rules()?.version ?? null };
    return {
      answer: {
        breakId: ask.breakId,
        breakAt: ask.breakAt,
        serverTime: deps.nowMs(),
        source,
        degraded: told.reason !== undefined,
        ...(told.reason === undefined ? {} : { degradedReason: told.reason }),
        reserved: told.reserved,
        rulesVersion,
        candidates,
        pod,
        unfilled,
      },
      shadow: shadowOf(decision),
    };
  };

  /** Nothing is known: everything is allowed but BLOCK and what the pod itself would overfill. */
  const decideBlind = (ask: Ask, told: Omit<Told, 'reserved'>): Selection => {
    const rules = deps.rules() ?? NO_RULES;
    const blind = { ...ask, reserve: false };
    const decision = decide(
      blind,
      NOTHING,
      settingFor(ask, rules, { source: told.source, nowMs: deps.nowMs() }),
    );
    const selection = tell(ask, decision, { ...told, reserved: false });
    const judged = decision.kind === 'decided' ? decision.judged : [];
    const candidates = withoutCounts(selection.answer.candidates, judged);
    return { ...selection, answer: { ...selection.answer, candidates } };
  };

  const open = (ask: Ask, reason: DegradedReason): Selection => decideBlind(ask, { source: 'open', reason });

  /** The window where it is complete, else the history; where that cannot be had in time the window, and said so. */
  const viewsOf = async (
    { deviceId }: Device,
    reading: DecisionReading,
    read: { sinceMs: number; deadline: Deadline },
  ): Promise<{ views: readonly View[]; source: Source; reason: DegradedReason | undefined }> => {
    const isComplete = reading.historyCount <= reading.windowCount;
    if (isComplete && deps.decideFrom === 'quotas')
      return { views: reading.views, source: 'quotas', reason: undefined };
    try {
      const views = await read.deadline.race(deps.store.readHistory({ deviceId, sinceMs: read.sinceMs }));
      return { views, source: 'history', reason: undefined };
    } catch (error) {
      deps.onFailure(error, 'the history could not be read');
      return { views: reading.views, source: 'quotas', reason: 'history_incomplete' };
    }
  };

  /** Takes back a commit that came true after its decision was answered without it. */
  const undo = async (
    { deviceId, breakKey }: Device,
    writing: Writing,
    before: { version: number; pod: string | undefined },
  ): Promise<void> => {
    deps.onUndone();
    if (before.pod === undefined) {
      await deps.store.release({ deviceId, breakKey });
      return;
    }
    await deps.store.commit({
      deviceId,
      breakKey,
      expectedVersion: before.version,
      notAfterMs: Number.MAX_SAFE_INTEGER,
      remove: writing.add,
      add: writing.remove,
      storedPod: before.pod,
      podExpiresAtMs: parseStoredPod(before.pod)?.expiresAt ?? writing.pod.expiresAt,
    });
  };

  /** 1. The only write of a decision. A crash before or in it leaves nothing, after it what a retry is answered with. */
  const commit = async (
    device: Device,
    { reading, writing, deadline }: { reading: DecisionReading; writing: Writing; deadline: Deadline },
  ): Promise<CommitOutcome['kind'] | 'failed'> => {
    const committing = deps.store.commit({
      ...device,
      expectedVersion: reading.version,
      notAfterMs: Math.floor(reading.nowMs + deadline.remainingMs()),
      remove: writing.remove,
      add: writing.add,
      storedPod: JSON.stringify(writing.pod),
      podExpiresAtMs: writing.pod.expiresAt,
    });
    const takeBack = (outcome: CommitOutcome): void => {
      if (outcome.kind !== 'committed') return;
      undo(device, writing, { version: outcome.version, pod: reading.storedPod }).catch((error: unknown) =>
        deps.onFailure(error, 'a late commit could not be taken back; it expires by itself'),
      );
    };
    try {
      return (await deadline.race(committing, takeBack)).kind;
    } catch (error) {
      if (error instanceof DeadlineExceeded) return 'too_late';
      deps.onFailure(error, 'a commit failed');
      return 'failed';
    }
  };

  /** Nothing of a contended break may be promised, and nothing more be said about it than the quotas. */
  const contended = (ask: Ask, knowledge: Knowledge, setting: Setting): Selection => {
    const quotas = decide({ ...ask, slots: [], reserve: false }, knowledge, setting);
    const selection = tell(ask, quotas, { source: setting.source, reserved: false, reason: 'contended' });
    return { ...selection, answer: { ...selection.answer, unfilled: ask.slots.length } };
  };

  const decideOnce = async (
    ask: Ask,
    device: Device,
    deadline: Deadline,
  ): Promise<Selection | { conflict: () => Selection }> => {
    const rules = deps.rules();
    if (rules === undefined) return open(ask, 'no_rules');
    const sinceMs = ask.breakAt - rules.longestWindowMs;
    const guarded = await deps.read.read({ ...device, sinceMs }, deadline);
    if (guarded.kind === 'failed') return open(ask, guarded.reason);
    const { reading } = guarded;
    const { views, source, reason } = await viewsOf(device, reading, { sinceMs, deadline });
    const setting = settingFor(ask, rules, { source, nowMs: epochMs(reading.nowMs) });
    const knowledge = {
      views,
      reservations: reading.reservations,
      stored: parseStoredPod(reading.storedPod),
    };
    const decision = decide(ask, knowledge, setting);
    const writing = decision.kind === 'decided' ? decision.writing : undefined;
    if (writing === undefined)
      return tell(ask, decision, { source, reason, reserved: decision.kind === 'stored' });
    switch (await commit(device, { reading, writing, deadline })) {
      case 'committed':
        return tell(ask, decision, { source, reason, reserved: true });
      case 'conflict':
        return { conflict: () => contended(ask, knowledge, setting) };
      case 'full':
        throw new AppError(
          'ADCAP_RESERVATIONS_FULL',
          'release breaks that will not be played, or wait until they expire',
        );
      case 'too_late':
        return tell(ask, decision, { source, reserved: false, reason: 'commit_late' });
      case 'failed':
        return tell(ask, decision, { source, reserved: false, reason: 'store_error' });
    }
  };

  const select = async (ask: Ask, deadlineMs: number): Promise<Selection> => {
    if (ask.deviceId === undefined) return decideBlind(ask, { source: 'unidentified' });
    const device = { deviceId: ask.deviceId, breakKey: breakKeyOf(ask.sessionId, ask.breakId) };
    const deadline = new Deadline(deadlineMs);
    for (let conflicts = 0; ; conflicts += 1) {
      // Each attempt starts from what the one before has met.
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await decideOnce(ask, device, deadline);
      if (!('conflict' in outcome)) return outcome;
      deps.onConflict();
      if (conflicts === MAX_CONFLICTS || deadline.remainingMs() === 0) return outcome.conflict();
    }
  };

  return { select, open };
};

export type SelectBreak = ReturnType<typeof createSelectBreak>;
