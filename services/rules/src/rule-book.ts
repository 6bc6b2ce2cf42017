import { AppError, type RuleSetDraft, type RulesRecord } from '@adcap/contracts';
import { type BusLogger, BusRefused } from '@adcap/kafka-bus';
import type { RulesCache } from '@adcap/redis-windows';
import { readRulesRecord } from '@adcap/rules-feed';
import type { Clock } from '@adcap/service-runtime';
import type { Edit } from './domain/edit-rules.ts';
import type { RulesTopic } from './rules-topic.ts';

type Change = {
  /** `none`: what the caller named is no version. */
  expectedVersion: number | 'any' | 'none';
  /** Asked about the version that is expected, and of no other. */
  edit: Edit;
  author: string;
  note?: string | undefined;
};

/** What became of a change, and what a caller has to know of the state that it leaves. */
export type ChangeResult =
  | { kind: 'published'; record: RulesRecord }
  | { kind: 'stale'; version: number }
  /** The edit cannot be made. */
  | { kind: 'refused'; error: AppError }
  | { kind: 'too_large'; bytes: number }
  /** Nothing was changed; the same may be sent again. */
  | { kind: 'unchanged'; away: 'store' | 'bus'; detail: string; cause?: unknown }
  /** The version is in force and is published as soon as that works. */
  | { kind: 'unpublished'; record: RulesRecord; cause: unknown }
  /** Redis went away in the middle: it may be in force or not. */
  | { kind: 'unknown'; version: number; cause: unknown };

/** How Redis and the topic were brought together. A closed set: it labels metrics. */
type Reconciled = 'seeded' | 'restored' | 'republished';

/** The rules and their versions. Written by this alone: Redis is the fence, the topic is what everybody reads. */
export type RuleBook = {
  /** The version in force; from memory while Redis is away. Undefined: none is known yet. */
  read(): Promise<RulesRecord | undefined>;
  change(change: Change): Promise<ChangeResult>;
  /** Mends whichever of Redis and the topic is behind, and seeds both when they are empty. Throws when Redis is away. */
  reconcile(): Promise<RulesRecord | undefined>;
  /** The last version that was seen, without asking anyone. */
  known(): RulesRecord | undefined;
};

export type RuleBookDeps = {
  cache: RulesCache;
  topic: RulesTopic;
  /** What an empty installation starts with. */
  seed: RuleSetDraft;
  retentionMs: number;
  maxBytes: number;
  clock: Clock;
  logger: BusLogger;
  onReconciled: (how: Reconciled) => void;
};

const isSame = (a: RulesRecord, b: RulesRecord): boolean => JSON.stringify(a) === JSON.stringify(b);

export const createRuleBook = (deps: RuleBookDeps): RuleBook => {
  const { cache, topic, seed, retentionMs, maxBytes, clock, logger, onReconciled } = deps;
  let known: RulesRecord | undefined;
  /** Judging a large set costs more than reading it, and mostly it is the one that was read before. */
  let lastRead: { json: string; record: RulesRecord } | undefined;
  /** One step at a time in this process; between processes Redis decides. */
  let queue: Promise<unknown> = Promise.resolve();

  const inTurn = <Result>(step: () => Promise<Result>): Promise<Result> => {
    const result = queue.then(step);
    queue = result.catch(() => {});
    return result;
  };

  const load = async (): Promise<RulesRecord | undefined> => {
    const cached = await cache.load();
    if (cached === undefined) return undefined;
    if (cached.json === lastRead?.json) {
      known = lastRead.record;
      return lastRead.record;
    }
    const read = readRulesRecord(cached.json, { retentionMs });
    if (read.record === undefined) {
      const detail = read.ok ? '' : read.detail;
      throw new AppError('ADCAP_STORE_UNAVAILABLE', `Redis holds unreadable rules: ${detail}`);
    }
    known = read.record;
    lastRead = { json: cached.json, record: read.record };
    return read.record;
  };

  const makeRecord = (
    version: number,
    draft: RuleSetDraft,
    by: { author: string; note?: string | undefined },
  ) => ({
    schema: 1 as const,
    version,
    dimensions: draft.dimensions,
    rules: [...draft.rules],
    author: by.author,
    ...(by.note === undefined ? {} : { note: by.note }),
    publishedAt: clock.nowMs(),
  });

  /** False: somebody else was faster. An answer that got lost may have been a yes: Redis is asked once more. */
  const store = async (expected: number | null, record: RulesRecord): Promise<boolean> => {
    const json = JSON.stringify(record);
    let isStored: boolean;
    try {
      isStored = await cache.compareAndSet(expected, record.version, json);
    } catch (error) {
      const now = await cache.load();
      if (now === undefined || now.json !== json) throw error;
      isStored = true;
    }
    if (isStored) {
      known = record;
      lastRead = { json, record };
    }
    return isStored;
  };

  const reconciled = (how: Reconciled, { version }: RulesRecord): void => {
    onReconciled(how);
    logger.warn({ how, version }, 'Redis and the rules topic were brought together');
  };

  const fillEmpty = async (newest: RulesRecord | undefined): Promise<RulesRecord | undefined> => {
    const record = newest ?? makeRecord(1, seed, { author: 'start' });
    // 1. In Redis. Whoever dies after it leaves Redis ahead of the topic: the next round, of anybody, publishes it.
    if (!(await store(null, record))) return load();
    reconciled(newest === undefined ? 'seeded' : 'restored', record);
    // 2. On the topic.
    if (newest === undefined) await topic.publish(record);
    return record;
  };

  const settle = async (): Promise<RulesRecord | undefined> => {
    const held = await load();
    const { isCaughtUp, last, newest, isOfNewerRelease } = topic.state();
    if (!isCaughtUp || isOfNewerRelease) return held;
    if (held === undefined) return fillEmpty(newest);
    const isBehind =
      newest !== undefined &&
      (newest.version > held.version || (newest.version === held.version && !isSame(newest, held)));
    if (isBehind) {
      // Redis came back older than what was published.
      if (!(await store(held.version, newest))) return load();
      reconciled('restored', newest);
      return newest;
    }
    if ((last?.version ?? 0) < held.version && topic.isUp()) {
      await topic.publish(held);
      reconciled('republished', held);
    }
    return held;
  };

  const undo = async (refused: RulesRecord, before: RulesRecord): Promise<void> => {
    const record = { ...before, version: refused.version + 1, author: 'undo', publishedAt: clock.nowMs() };
    if (await store(refused.version, record)) await topic.publish(record);
  };

  const publish = async (record: RulesRecord, before: RulesRecord): Promise<ChangeResult> => {
    try {
      await topic.publish(record);
      return { kind: 'published', record };
    } catch (cause) {
      if (!(cause instanceof BusRefused)) return { kind: 'unpublished', record, cause };
      await undo(record, before);
      return { kind: 'too_large', bytes: Buffer.byteLength(JSON.stringify(record)) };
    }
  };

  const change = async ({ expectedVersion, edit, author, note }: Change): Promise<ChangeResult> => {
    const unchanged = (away: 'store' | 'bus', detail: string, cause?: unknown): ChangeResult => ({
      kind: 'unchanged',
      away,
      detail,
      ...(cause === undefined ? {} : { cause }),
    });
    if (!topic.isUp()) return unchanged('bus', 'The event stream does not acknowledge.');
    if (topic.state().isOfNewerRelease)
      return unchanged('bus', 'A newer release has published rules: change them there.');
    let before: RulesRecord | undefined;
    try {
      before = await settle();
    } catch (cause) {
      const isBus = cause instanceof AppError && cause.code === 'ADCAP_BUS_UNAVAILABLE';
      return unchanged(isBus ? 'bus' : 'store', 'What is in force could not be made sure of.', cause);
    }
    if (before === undefined) return unchanged('store', 'There are no rules yet to be replaced.');
    // The version before it must be on the topic first: once it is replaced in Redis nobody could publish it any more.
    if ((topic.state().last?.version ?? 0) < before.version)
      return unchanged('bus', `Version ${before.version} is in force and could not be published yet.`);
    if (expectedVersion !== 'any' && expectedVersion !== before.version)
      return { kind: 'stale', version: before.version };
    const draft = edit(before);
    if (draft instanceof AppError) return { kind: 'refused', error: draft };
    const record = makeRecord(before.version + 1, draft, { author, note });
    const bytes = Buffer.byteLength(JSON.stringify(record));
    if (bytes > maxBytes) return { kind: 'too_large', bytes };
    // 1. In Redis, if nobody else was faster: now it is in force. Whoever dies after it leaves Redis ahead of the topic;
    //    the next round of any instance, or its next start, publishes it.
    try {
      if (!(await store(before.version, record))) return { kind: 'stale', version: before.version + 1 };
    } catch (cause) {
      return { kind: 'unknown', version: record.version, cause };
    }
    // 2. On the topic, whole. Whoever dies after it has published and not answered: sent again it is stale.
    return publish(record, before);
  };

  return {
    read: async () => {
      try {
        return (await load()) ?? topic.state().newest;
      } catch (err) {
        const { newest } = topic.state();
        const fallback = (newest?.version ?? 0) > (known?.version ?? 0) ? newest : known;
        if (fallback === undefined) throw err;
        return fallback;
      }
    },
    change: (wanted) => inTurn(() => change(wanted)),
    reconcile: () => inTurn(settle),
    known: () => known,
  };
};
