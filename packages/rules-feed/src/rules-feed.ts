import { setTimeout as delay, setImmediate as others } from 'node:timers/promises';
import { CURRENT_RULES_KEY, type RulesRecord, rulesVersionKey } from '@adcap/contracts';
import { type BusSettings, followCompactedTopic } from '@adcap/kafka-bus';
import type { RulesCache } from '@adcap/redis-windows';
import { type CompiledRules, compileRulesInSteps, type Steps } from '@adcap/rule-engine';
import { createListeners } from './listeners.ts';
import { loadRulesFile } from './load-rules-file.ts';
import { PastRules } from './past-rules.ts';
import { type RecordRefusal, readRulesRecordInSteps } from './read-rules-record.ts';
import { createRefusals, type RefusedRules } from './refusals.ts';
import type { RulesSource } from './rules-source.ts';

export type RulesFeedOptions = {
  bus: BusSettings;
  /** The compacted topic by its full name. */
  topic: string;
  cache: Pick<RulesCache, 'load'>;
  retentionMs: number;
  /** A YAML rule set for a start with neither Redis nor Kafka. */
  file?: string | undefined;
  /** How long the start waits for a source that does not answer. */
  startLimitMs?: number;
  /** Given: the versions that were in force within the retention are remembered, for `inForceAt`. */
  nowMs?: () => number;
};

export type RulesChange = { record: RulesRecord; source: RulesSource };

/** The rules in force, as far as this process knows. */
export type RulesFeed = {
  /** Ready to decide with; `undefined` while no set was ever seen. */
  current(): CompiledRules | undefined;
  /** The version in force, 0 for the set of the file, null for none. */
  version(): number | null;
  /** What was in force at an instant, up to now; `undefined` where this process cannot know. */
  inForceAt(at: number): CompiledRules | undefined;
  record(): RulesRecord | undefined;
  source(): RulesSource | undefined;
  /** The last set that came and was not taken; `undefined` once a good one has come after it. */
  refused(): RefusedRules | undefined;
  /** How many were not taken, by reason. */
  refusals(): Readonly<Record<RecordRefusal, number>>;
  /** Called after each change; the answer ends it. */
  onChange(listener: (change: RulesChange) => void): () => void;
  /** Resolves when a set is in force, or when every source was seen to have none or did not answer. Never rejects. */
  readonly started: Promise<void>;
  /** Whether the topic is being followed; without it changes come from Redis, within seconds. */
  isLive(): boolean;
  close(): Promise<void>;
};

const START_LIMIT_MS = 2_000;
/** Until Redis has answered once. */
const FIRST_LOOK_MS = 100;
/** While the topic cannot be followed. */
const FALLBACK_LOOK_MS = 1_000;

type Held = {
  record: RulesRecord;
  compiled: CompiledRules;
  source: RulesSource;
  since: number;
  json: string;
};

/** Never back to a lower version. Under one number the topic is right: it is what every other service has read. */
const isBetter = (version: number, source: RulesSource, held: Held | undefined): boolean =>
  held === undefined ||
  version > held.record.version ||
  (version === held.record.version && source === 'bus' && held.source !== 'bus');

/** Judging thousands of rules takes longer than a decision may: whatever else there is to do is done between two steps. */
const betweenOthers = async <Result>(steps: Steps<Result>): Promise<Result> => {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    // oxlint-disable-next-line no-await-in-loop -- one step after the other is what it is about
    await others();
  }
};

/**
 * Follows the rules: Redis at once, the topic live, a file when there is neither. A set that is wrong, or that a newer
 * release wrote, is refused with an error in the log, and the one in force stays.
 */
export const createRulesFeed = (options: RulesFeedOptions): RulesFeed => {
  const { bus, topic, cache, retentionMs, file, startLimitMs = START_LIMIT_MS, nowMs } = options;
  const { logger } = bus;
  const stop = new AbortController();
  const firstSet = Promise.withResolvers<void>();
  const cacheSeen = Promise.withResolvers<void>();
  const past = nowMs === undefined ? undefined : new PastRules({ retentionMs }, nowMs);
  const { notify, onChange } = createListeners<RulesChange>(logger);
  const refusals = createRefusals(logger);
  let held: Held | undefined;
  /** One set after the other, as they came. */
  let queue: Promise<void> = Promise.resolve();

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    queue = queue.then(async () => {
      if (!stop.signal.aborted) await work();
    });
    return queue;
  };

  const take = async (record: RulesRecord, source: RulesSource, json: string): Promise<void> => {
    if (!isBetter(record.version, source, held)) return;
    // A file says not since when: as far as is known, since it was read.
    const since = source === 'file' ? (nowMs?.() ?? Infinity) : record.publishedAt;
    const compiled = await betweenOthers(compileRulesInSteps(record));
    const isSame =
      held?.record.version === record.version && JSON.stringify(held.record) === JSON.stringify(record);
    held = { record, compiled, source, since, json };
    firstSet.resolve();
    if (isSame) return;
    logger.info({ version: record.version, source }, 'rules in force');
    notify({ record, source });
  };

  const judge = async (json: string, source: RulesSource): Promise<void> => {
    // Redis is asked again and again, and the topic tells what Redis has told before.
    if (held?.json === json) {
      held = { ...held, source: source === 'bus' ? source : held.source };
      if (source === 'bus') past?.note(json);
      refusals.overtake(source);
      return;
    }
    const read = await betweenOthers(readRulesRecordInSteps(json, { retentionMs }));
    if (!read.ok) return refusals.note({ ...read, source }, held?.record.version);
    const isNew = read.record.version !== held?.record.version;
    await take(read.record, source, json);
    refusals.overtake(source);
    // Redis is asked again and again, and under one number the topic is right.
    if (source === 'bus' || (isNew && held?.record === read.record)) past?.note(json);
  };

  const takeJson = (json: string, source: RulesSource): Promise<void> => inTurn(() => judge(json, source));

  const follower = followCompactedTopic({
    bus,
    topic,
    onRecord: (key, value) => {
      if (value === null) return;
      if (key === CURRENT_RULES_KEY) void takeJson(value.toString('utf8'), 'bus');
      else past?.note(value.toString('utf8'), (version) => rulesVersionKey(version) === key);
    },
  });

  const lookIntoCache = async (): Promise<boolean> => {
    try {
      const cached = await cache.load();
      if (cached !== undefined) await takeJson(cached.json, 'redis');
      cacheSeen.resolve();
      return true;
    } catch (err) {
      logger.debug({ err }, 'no rules from Redis');
      return false;
    }
  };

  const watchCache = async (): Promise<void> => {
    let hasSeen = false;
    while (!stop.signal.aborted) {
      if (!hasSeen || !follower.isHealthy()) hasSeen = (await lookIntoCache()) || hasSeen;
      const waitMs = hasSeen ? FALLBACK_LOOK_MS : FIRST_LOOK_MS;
      await delay(waitMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  };

  const takeFile = async (): Promise<void> => {
    if (file === undefined || held !== undefined) return;
    try {
      const draft = await loadRulesFile(file, { retentionMs });
      const record = { schema: 1 as const, version: 0, ...draft, rules: [...draft.rules], publishedAt: 0 };
      await inTurn(() => take(record, 'file', ''));
    } catch (err) {
      logger.error({ err }, 'the rules file was refused');
    }
  };

  const start = async (): Promise<void> => {
    const everySource = Promise.all([cacheSeen.promise, follower.caughtUp]).then(() => queue);
    const limit = delay(startLimitMs, undefined, { signal: stop.signal }).catch(() => {});
    await Promise.race([firstSet.promise, everySource, limit]);
    await takeFile();
  };

  const watching = watchCache();

  return {
    current: () => held?.compiled,
    version: () => held?.record.version ?? null,
    inForceAt: (at) => {
      if (held === undefined) return undefined;
      return at >= held.since ? held.compiled : past?.at(at, held.record.version);
    },
    record: () => held?.record,
    source: () => held?.source,
    refused: refusals.last,
    refusals: refusals.counts,
    onChange,
    started: start(),
    isLive: () => follower.isHealthy(),
    close: async () => {
      stop.abort();
      await watching;
      await follower.close();
      await queue;
    },
  };
};
