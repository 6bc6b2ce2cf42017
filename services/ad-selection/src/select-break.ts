import { AppError, type DegradedReason, type EpochMs } from '@adcap/contracts';
import { breakKeyOf, type ReservationTokens, reservationFingerprint, valueKeyOf } from '@adcap/identity';
import { type CompiledRules, compileRules } from '@adcap/rule-engine';
import type { CompleteReading } from './adapters/complete-reading.ts';
import { Deadline } from './adapters/deadline.ts';
import type { GuardedRead } from './adapters/guarded-read.ts';
import type { Device, ReservationKeeper } from './adapters/reservation-keeper.ts';
import type { Ask, Knowledge, Setting } from './domain/ask.ts';
import { answeredBefore, type Decision, decide } from './domain/decide.ts';
import { parseStoredPod } from './domain/stored-pod.ts';
import { type Selection, type Told, tell, tellBlind, tellEmpty } from './domain/tell.ts';
import type { Freshness } from './freshness.ts';

export type SelectDeps = {
  read: GuardedRead;
  complete: CompleteReading;
  decideFrom: () => 'quotas' | 'history';
  keep: ReservationKeeper;
  freshness: Freshness;
  rules: () => CompiledRules | undefined;
  tokens: Pick<ReservationTokens, 'sign'>;
  nowMs: () => EpochMs;
  graceMs: number;
  onConflict: () => void;
};

/** Conflicts with other processes before the slots are left empty. */
const MAX_CONFLICTS = 3;
const NO_RULES = compileRules({ version: 0, dimensions: {}, rules: [] });
const NOTHING: Knowledge = { views: [], reservations: [], stored: undefined };

/** A decision whose commit others have overtaken: the quotas hold, the slots stay empty. */
type Unheld = { unheld: (why: DegradedReason) => Selection };

const createSettings =
  ({ graceMs, tokens }: Pick<SelectDeps, 'graceMs' | 'tokens'>) =>
  (ask: Ask, rules: CompiledRules, from: Pick<Setting, 'source' | 'nowMs' | 'breakKey'>): Setting => {
    const { breakId, sessionId, deviceId = '' } = ask;
    return {
      rules,
      ...from,
      graceMs,
      keyOf: valueKeyOf,
      idOf: (reservationId) => reservationFingerprint(deviceId, reservationId),
      grant: ({ slot, facts: { exempt: _exempt, ...claims } }) => {
        const place = { deviceId, sessionId, breakId, slot, grantedAt: from.nowMs };
        return tokens.sign({ ...claims, ...place });
      },
    };
  };

/** What the commit of a decision made of it. */
const settle = (
  outcome: Awaited<ReturnType<ReservationKeeper>>,
  say: (told: Pick<Told, 'reserved'> & { reason?: DegradedReason }) => Selection,
): Selection | 'conflict' => {
  switch (outcome) {
    case 'committed':
      return say({ reserved: true });
    case 'too_late':
      return say({ reserved: false, reason: 'commit_late' });
    case 'failed':
      return say({ reserved: false, reason: 'store_error' });
    case 'conflict':
      return 'conflict';
    case 'full':
      throw new AppError(
        'ADCAP_RESERVATIONS_FULL',
        'release breaks that will not be played, or wait until they expire',
      );
  }
};

/**
 * Decides a break: one read, one commit, one deadline over both. Failure policy: fails open before anything was read, keeps to
 * the quotas after (law 11); throws AppError for what the caller asked wrongly.
 */
export const createSelectBreak = (deps: SelectDeps) => {
  const settingFor = createSettings(deps);

  /** Nothing is known: everything is allowed but BLOCK and what the pod itself would overfill. */
  const decideBlind = (ask: Ask, told: Pick<Told, 'source' | 'reason'>): Selection => {
    const rules = deps.rules();
    const breakKey = breakKeyOf(ask.sessionId, ask.breakId);
    const from = { source: told.source, nowMs: deps.nowMs(), breakKey };
    const setting = settingFor(ask, rules ?? NO_RULES, from);
    const decision = decide({ ...ask, reserve: false }, NOTHING, setting);
    return tellBlind(ask, decision, {
      ...told,
      rulesVersion: rules?.version ?? null,
      asOf: null,
      serverTime: deps.nowMs(),
    });
  };

  const open = (ask: Ask, reason: DegradedReason): Selection => decideBlind(ask, { source: 'open', reason });

  /** One read and at most one commit; a conflict leaves how to answer if it was the last one. */
  const attempt = async (
    ask: Ask,
    device: Device,
    deadline: Deadline,
  ): Promise<Selection | Unheld | { failed: DegradedReason }> => {
    const rules = deps.rules();
    if (rules === undefined) return open(ask, 'no_rules');
    const sinceMs = ask.breakAt - rules.longestWindowMs;
    const from = deps.decideFrom() === 'history' ? 'both' : 'window';
    const request = { ...device, sinceMs, from } as const;
    const guarded = await deps.read.read(request, deadline);
    if (guarded.kind === 'failed') return { failed: guarded.reason };

    const storedFirst = parseStoredPod(guarded.reading.storedPod);
    const isAnswered = answeredBefore(ask, storedFirst) !== undefined;
    const { reading, source, reason } = isAnswered
      ? { reading: guarded.reading, source: 'quotas' as const, reason: undefined }
      : await deps.complete(guarded.reading, { request, deadline });
    // Now, not when it is told: what is applied meanwhile was not read.
    const fresh = deps.freshness(device.deviceId, { source, reason });
    const { views, reservations } = reading;
    const stored = reading === guarded.reading ? storedFirst : parseStoredPod(reading.storedPod);
    const knowledge = { views, reservations, stored };
    const setting = settingFor(ask, rules, { source, nowMs: reading.nowMs, breakKey: device.breakKey });
    const decision: Decision = decide(ask, knowledge, setting);

    const told = () => ({ source, ...fresh, rulesVersion: rules.version, serverTime: deps.nowMs() });
    const writing = decision.kind === 'refused' ? undefined : decision.writing;
    if (writing === undefined)
      return tell(ask, decision, { ...told(), reserved: decision.kind === 'stored' });
    const outcome = await deps.keep(device, { reading, writing, deadline });
    const settled = settle(outcome, (more) => tell(ask, decision, { ...told(), ...more }));
    if (settled !== 'conflict') return settled;
    const quotas = decide({ ...ask, slots: [] }, knowledge, setting);
    return { unheld: (why) => tellEmpty(ask, quotas, { ...told(), reason: why }) };
  };

  const select = async (ask: Ask, deadlineMs: number): Promise<Selection> => {
    if (ask.deviceId === undefined) return decideBlind(ask, { source: 'unidentified', reason: undefined });
    const device = { deviceId: ask.deviceId, breakKey: breakKeyOf(ask.sessionId, ask.breakId) };
    const deadline = new Deadline(deadlineMs);
    let unheld: Unheld['unheld'] = (why) => open(ask, why);
    for (let conflicts = 1; ; conflicts += 1) {
      // Each attempt starts from what the one before has met.
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await attempt(ask, device, deadline);
      // Once a device was read its quotas hold, also where it cannot be read again.
      if ('failed' in outcome) return unheld(outcome.failed);
      if (!('unheld' in outcome)) return outcome;
      deps.onConflict();
      ({ unheld } = outcome);
      if (conflicts === MAX_CONFLICTS || deadline.remainingMs() === 0) return unheld('contended');
    }
  };

  return { select, open };
};

export type SelectBreak = ReturnType<typeof createSelectBreak>;
