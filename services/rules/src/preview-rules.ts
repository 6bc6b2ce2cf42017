import {
  AppError,
  type EpochMs,
  epochMs,
  type RuleFinding,
  type RuleSet,
  type RuleSetDraft,
} from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import type { HistorySample, SampledBatch, SampledDevice } from '@adcap/redis-windows';
import { type CompiledRules, compileRules, type Watched } from '@adcap/rule-engine';
import type { Clock } from '@adcap/service-runtime';
import type { LostFillReason, RecordedDecisions } from './adapters/recorded-decisions.ts';
import { createLostFillTally, type LostFill } from './domain/lost-fill.ts';
import { createPreviewTally, type PreviewFigures, type PreviewTally } from './domain/preview-tally.ts';
import { warnOfPreview } from './domain/preview-warnings.ts';
import type { Share } from './domain/sampled-share.ts';
import { watchedOf } from './domain/watched-ad.ts';
import type { RulesMetrics } from './metrics.ts';
import type { RuleBook } from './rule-book.ts';
import { createSlices } from './slices.ts';

type PreviewRequest = {
  draft: RuleSetDraft;
  /** How many devices to look at. */
  sample: number;
  /** From when on; undefined: the last 24 hours. */
  since: EpochMs | undefined;
  /** Whoever asked has gone. */
  signal: AbortSignal;
};

export type Preview = PreviewFigures & {
  /** What the draft is compared with; null: no rules yet. */
  rulesVersion: number | null;
  since: EpochMs;
  blockedShare: Share;
  newlyBlockedShare: Share;
  population: number;
  isPartial: boolean;
  lostFill: LostFill | LostFillReason;
  warnings: readonly RuleFinding[];
};

/**
 * What a draft would have done, tried on what was watched. One at a time in a process: another is refused with
 * ADCAP_RULES_PREVIEW_BUSY. Failure policy: throws ADCAP_STORE_UNAVAILABLE where the histories cannot be read; decisions that
 * cannot be read leave out the lost fill alone; behind its limit it answers what it has.
 */
export type PreviewRules = (request: PreviewRequest) => Promise<Preview>;

export type PreviewDeps = {
  history: HistorySample;
  decisions: RecordedDecisions;
  book: Pick<RuleBook, 'read'>;
  metrics: Pick<RulesMetrics, 'previews' | 'previewSeconds'>;
  clock: Clock;
  retentionMs: number;
  limitMs: number;
};

const DAY_MS = 86_400_000;
/** The rest is for lost fill. */
const SHARE_OF_SAMPLING = 0.8;
const NO_RULES: RuleSet = { version: 0, dimensions: {}, rules: [] };

/** What was seen of the population when the sampling ended. */
type Seen = { population: number; isPartial: boolean; unreadable: number };

const toHistory = ({ records }: ReturnType<SampledDevice['decode']>): Watched[] =>
  records.map((record) => watchedOf(record, valueKeyOf));

const populationOf = ({ found, share }: SampledBatch): number =>
  share > 0 ? Math.max(found, Math.round(found / share)) : found;

/** Behind a limit of time what was done until then is kept; whatever else goes wrong is thrown. */
const untilTimeIsUp = async (timeUp: AbortSignal, work: () => Promise<void>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (error) {
    if (timeUp.aborted) return false;
    throw error;
  }
};

const sampleInto = async (
  tally: PreviewTally,
  { history }: Pick<PreviewDeps, 'history'>,
  { devices, signal, limitMs }: { devices: number; signal: AbortSignal; limitMs: number },
): Promise<Seen> => {
  const timeUp = AbortSignal.timeout(limitMs);
  const sliced = createSlices();
  let last: SampledBatch = { devices: [], found: 0, share: 0 };
  let unreadable = 0;
  const isWhole = await untilTimeIsUp(timeUp, async () => {
    for await (const batch of history.random({ devices, signal: AbortSignal.any([signal, timeUp]) })) {
      last = batch;
      for (const device of batch.devices) {
        const decoded = device.decode();
        unreadable += decoded.unreadable;
        tally.add(toHistory(decoded));
        await sliced();
      }
    }
  });
  return { population: populationOf(last), isPartial: !isWhole, unreadable };
};

const lostFillOf = async (
  draft: CompiledRules,
  { history, decisions }: { history: HistorySample; decisions: ReturnType<RecordedDecisions> },
  { signal, limitMs }: { signal: AbortSignal; limitMs: number },
): Promise<LostFill | LostFillReason> => {
  const timeUp = AbortSignal.timeout(Math.max(1, limitMs));
  const recorded = await decisions;
  if (typeof recorded === 'string') return recorded;
  const tally = createLostFillTally(draft);
  const sliced = createSlices();
  const wanted = AbortSignal.any([signal, timeUp]);
  const isWhole = await untilTimeIsUp(timeUp, async () => {
    for await (const devices of history.of([...recorded.keys()], wanted)) {
      for (const device of devices) {
        tally.add(toHistory(device.decode()), recorded.get(device.tag) ?? []);
        await sliced();
      }
    }
  });
  return tally.result() ?? (isWhole ? 'no_decisions' : 'not_in_time');
};

export const createPreviewRules = (deps: PreviewDeps): PreviewRules => {
  let isRunning = false;

  const preview = async ({ draft, sample, since, signal }: PreviewRequest): Promise<Preview> => {
    const begun = performance.now();
    const leftMs = (): number => deps.limitMs - (performance.now() - begun);
    const nowMs = deps.clock.nowMs();
    const inForce = (await deps.book.read()) ?? NO_RULES;
    const sinceMs = epochMs(Math.max(since ?? nowMs - DAY_MS, nowMs - deps.retentionMs));
    // Read meanwhile: joining the brokers is mostly waiting.
    const ending = new AbortController();
    const decisions = deps.decisions(AbortSignal.any([signal, ending.signal]));
    try {
      const rules = { draft: compileRules({ version: 0, ...draft }), inForce: compileRules(inForce) };
      const tally = createPreviewTally({ ...rules, sinceMs });
      const limitMs = Math.max(1, Math.floor(leftMs() * SHARE_OF_SAMPLING));
      const { population, isPartial, unreadable } = await sampleInto(tally, deps, {
        devices: sample,
        signal,
        limitMs,
      });
      const figures = tally.figures();
      const shares = tally.shares(population === 0 ? 1 : figures.sampled / population);
      const lostFill = await lostFillOf(
        rules.draft,
        { history: deps.history, decisions },
        { signal, limitMs: Math.floor(leftMs()) },
      );
      return {
        ...figures,
        rulesVersion: inForce === NO_RULES ? null : inForce.version,
        since: sinceMs,
        blockedShare: shares.blocked,
        newlyBlockedShare: shares.newlyBlocked,
        population: Math.max(population, figures.sampled),
        isPartial,
        lostFill,
        warnings: warnOfPreview(
          { figures, newlyBlocked: shares.newlyBlocked, isPartial, unreadable },
          { draft, inForce },
        ),
      };
    } finally {
      ending.abort();
    }
  };

  const asAppError = (error: unknown, signal: AbortSignal): AppError => {
    if (error instanceof AppError) return error;
    if (signal.aborted)
      return new AppError('ADCAP_REQUEST_MALFORMED', 'Nobody waits for the answer any more.');
    return new AppError('ADCAP_STORE_UNAVAILABLE', 'The histories cannot be read.', { cause: error });
  };

  const measured = async (request: PreviewRequest): Promise<Preview> => {
    const done = deps.metrics.previewSeconds.startTimer();
    try {
      const answer = await preview(request);
      deps.metrics.previews.inc({ outcome: answer.isPartial ? 'partial' : 'whole' });
      return answer;
    } catch (error) {
      deps.metrics.previews.inc({ outcome: request.signal.aborted ? 'gone' : 'failed' });
      throw asAppError(error, request.signal);
    } finally {
      done();
    }
  };

  return async (request) => {
    if (isRunning) {
      deps.metrics.previews.inc({ outcome: 'busy' });
      throw new AppError('ADCAP_RULES_PREVIEW_BUSY', 'One preview at a time: ask again in some seconds.');
    }
    isRunning = true;
    try {
      return await measured(request);
    } finally {
      isRunning = false;
    }
  };
};
