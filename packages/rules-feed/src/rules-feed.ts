import { setTimeout as delay } from 'node:timers/promises';
import { CURRENT_RULES_KEY, type RulesRecord, rulesVersionKey } from '@adcap/contracts';
import { type BusSettings, followCompactedTopic } from '@adcap/kafka-bus';
import type { RulesCache } from '@adcap/redis-windows';
import { type CompiledRules, compileRules } from '@adcap/rule-engine';
import { loadRulesFile } from './load-rules-file.ts';
import { PastRules } from './past-rules.ts';
import { type RecordRefusal, readRulesRecord } from './read-rules-record.ts';

/** Where the set in force was read from. */
export type RulesSource = 'bus' | 'redis' | 'file';

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
  /** Called for every set that is not taken. */
  onRefused?: (reason: RecordRefusal) => void;
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

type Held = { record: RulesRecord; compiled: CompiledRules; source: RulesSource; since: number };

/** Never back to a lower version. Under one number the topic is right: it is what every other service has read. */
const isBetter = (version: number, source: RulesSource, held: Held | undefined): boolean =>
  held === undefined ||
  version > held.record.version ||
  (version === held.record.version && source === 'bus' && held.source !== 'bus');

/**
 * Follows the rules: Redis at once, the topic live, a file when there is neither. A set that is wrong, or that a newer
 * release wrote, is refused with an error in the log, and the one in force stays.
 */
export const createRulesFeed = (options: RulesFeedOptions): RulesFeed => {
  const { bus, topic, cache, retentionMs, file, startLimitMs = START_LIMIT_MS, nowMs, onRefused } = options;
  const { logger } = bus;
  const stop = new AbortController();
  const firstSet = Promise.withResolvers<void>();
  const cacheSeen = Promise.withResolvers<void>();
  const listeners = new Set<(change: RulesChange) => void>();
  const past = nowMs === undefined ? undefined : new PastRules({ retentionMs }, nowMs);
  let held: Held | undefined;
  let lastRefusal = '';

  const notify = (change: RulesChange): void => {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (err) {
        logger.error({ err }, 'a listener to rule changes failed');
      }
    }
  };

  const take = (record: RulesRecord, source: RulesSource): void => {
    if (!isBetter(record.version, source, held)) return;
    const isSame = held !== undefined && JSON.stringify(held.record) === JSON.stringify(record);
    // A file says not since when: as far as is known, since it was read.
    const since = source === 'file' ? (nowMs?.() ?? Infinity) : record.publishedAt;
    held = { record, compiled: compileRules(record), source, since };
    firstSet.resolve();
    if (isSame) return;
    logger.info({ version: record.version, source }, 'rules in force');
    notify({ record, source });
  };

  const takeJson = (json: string, source: RulesSource): void => {
    const read = readRulesRecord(json, { retentionMs });
    if (read.ok) {
      const isNew = read.record.version !== held?.record.version;
      take(read.record, source);
      // Redis is asked again and again, and under one number the topic is right.
      if (source === 'bus' || (isNew && held?.record === read.record)) past?.note(json);
      return;
    }
    const { reason, detail } = read;
    // Redis is asked again and again: said once.
    if (detail === lastRefusal && source === 'redis') return;
    lastRefusal = detail;
    onRefused?.(reason);
    logger.error({ reason, detail, source, kept: held?.record.version }, 'a rule set was refused');
  };

  const follower = followCompactedTopic({
    bus,
    topic,
    onRecord: (key, value) => {
      if (value === null) return;
      if (key === CURRENT_RULES_KEY) takeJson(value.toString('utf8'), 'bus');
      else past?.note(value.toString('utf8'), (version) => rulesVersionKey(version) === key);
    },
  });

  const lookIntoCache = async (): Promise<boolean> => {
    try {
      const cached = await cache.load();
      if (cached !== undefined) takeJson(cached.json, 'redis');
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
      take({ schema: 1, version: 0, ...draft, rules: [...draft.rules], publishedAt: 0 }, 'file');
    } catch (err) {
      logger.error({ err }, 'the rules file was refused');
    }
  };

  const start = async (): Promise<void> => {
    const everySource = Promise.all([cacheSeen.promise, follower.caughtUp]);
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
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    started: start(),
    isLive: () => follower.isHealthy(),
    close: async () => {
      stop.abort();
      await watching;
      await follower.close();
    },
  };
};
