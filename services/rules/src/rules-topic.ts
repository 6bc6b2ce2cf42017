import { CURRENT_RULES_KEY, type RulesRecord, rulesVersionKey } from '@adcap/contracts';
import { type BusMessage, type BusSettings, createProducer, followCompactedTopic } from '@adcap/kafka-bus';
import { readRulesRecord } from '@adcap/rules-feed';
import { VersionArchive } from './version-archive.ts';

/** What the compacted topic holds, as far as it has been read. */
type TopicState = {
  /** Everything that it held at the start has been read. */
  isCaughtUp: boolean;
  /** The last record under `current`: what a service that starts now ends up with. Undefined: none, or unreadable. */
  last: RulesRecord | undefined;
  /** The highest version ever seen under `current`: of two writers the slower one may have come last. */
  newest: RulesRecord | undefined;
  /** A newer release has written here: this one must not write over it. */
  isOfNewerRelease: boolean;
};

export type RulesTopic = {
  state(): TopicState;
  /** What is kept under `v<n>`, as far as it has been read. */
  versions: Pick<VersionArchive, 'heads' | 'json'>;
  /** Whether a change would probably be acknowledged now. */
  isUp(): boolean;
  /** Resolves when all in-sync replicas have the version; rejects as the producer does. */
  publish(record: RulesRecord): Promise<void>;
  close(): Promise<void>;
};

const VERSIONS_KEPT = 100;
const VERSION_KEY = /^v([1-9]\d{0,14})$/;

const messagesOf = (record: RulesRecord, value: string): BusMessage[] => {
  const outlived = record.version - VERSIONS_KEPT;
  return [
    { key: rulesVersionKey(record.version), value },
    { key: CURRENT_RULES_KEY, value },
    ...(outlived >= 1 ? [{ key: rulesVersionKey(outlived), value: null }] : []),
  ];
};

export const openRulesTopic = (options: {
  bus: BusSettings;
  topic: string;
  retentionMs: number;
  publishTimeoutMs: number;
}): RulesTopic => {
  const { bus, topic, retentionMs, publishTimeoutMs } = options;
  const state: TopicState = {
    isCaughtUp: false,
    last: undefined,
    newest: undefined,
    isOfNewerRelease: false,
  };

  const note = (record: RulesRecord): void => {
    state.last = record;
    // The later one under one number is what every other service has.
    if (record.version >= (state.newest?.version ?? 0)) state.newest = record;
  };

  const versions = new VersionArchive();
  const noteVersion = (key: string | null, value: Buffer | null): void => {
    const version = Number(VERSION_KEY.exec(key ?? '')?.[1]);
    if (Number.isNaN(version)) return;
    if (value === null) versions.forget(version);
    else versions.note(version, value.toString('utf8'));
  };

  const producer = createProducer({ bus, topics: [topic], timeoutMs: publishTimeoutMs });
  const follower = followCompactedTopic({
    bus,
    topic,
    onRecord: (key, value) => {
      if (key !== CURRENT_RULES_KEY) {
        noteVersion(key, value);
        return;
      }
      state.last = undefined;
      if (value === null) return;
      const read = readRulesRecord(value.toString('utf8'), { retentionMs });
      state.isOfNewerRelease = !read.ok && read.reason === 'newer_schema';
      if (read.record !== undefined) note(read.record);
      if (!read.ok)
        bus.logger.error(
          { reason: read.reason, detail: read.detail },
          'the topic holds rules that no service takes',
        );
    },
    onCaughtUp: () => {
      state.isCaughtUp = true;
    },
  });

  return {
    state: () => state,
    versions,
    isUp: () => state.isCaughtUp && producer.isHealthy(),
    publish: async (record) => {
      const json = JSON.stringify(record);
      await producer.send(topic, messagesOf(record, json));
      // Known before the follower has read it back, so that nobody publishes it once more.
      if (record.version > (state.last?.version ?? 0)) note(record);
      versions.note(record.version, json);
    },
    close: async () => {
      await producer.close();
      await follower.close();
    },
  };
};
