import { AppError, type RulesRecord } from '@adcap/contracts';
import type { RuleBounds } from '@adcap/rule-engine';
import { readRulesRecord } from '@adcap/rules-feed';
import type { RuleBook } from './rule-book.ts';
import type { RulesTopic } from './rules-topic.ts';
import type { VersionHead } from './version-archive.ts';

/** What was in force: the versions that the topic holds, and the one in force where it is not published yet. */
export type RuleVersions = {
  inForce(): Promise<RulesRecord>;
  /** Newest first. */
  list(): Promise<VersionHead[]>;
  /** Throws ADCAP_RULES_UNKNOWN_VERSION. */
  get(version: number): Promise<RulesRecord>;
};

const headOf = ({ version, author, note, publishedAt, rules }: RulesRecord): VersionHead => ({
  version,
  author,
  note,
  publishedAt,
  ruleCount: rules.length,
});

/** Failure policy: without Kafka what was read before is told; where nothing was, 503. */
export const createRuleVersions = (
  { read }: Pick<RuleBook, 'read'>,
  topic: Pick<RulesTopic, 'state' | 'versions'>,
  bounds: RuleBounds,
): RuleVersions => {
  const inForce = async (): Promise<RulesRecord> => {
    const record = await read();
    if (record === undefined) throw new AppError('ADCAP_STORE_UNAVAILABLE', 'There are no rules yet.');
    return record;
  };
  const assertRead = (): void => {
    if (!topic.state().isCaughtUp)
      throw new AppError('ADCAP_BUS_UNAVAILABLE', 'The versions have not been read yet.');
  };
  return {
    inForce,
    list: async () => {
      assertRead();
      const record = await inForce();
      const heads = topic.versions.heads();
      return heads.some(({ version }) => version >= record.version) ? heads : [headOf(record), ...heads];
    },
    get: async (version) => {
      const record = await inForce();
      if (record.version === version) return record;
      assertRead();
      const json = topic.versions.json(version);
      const found = json === undefined ? undefined : readRulesRecord(json, bounds).record;
      if (found !== undefined) return found;
      throw new AppError('ADCAP_RULES_UNKNOWN_VERSION', `Version ${version} is not among the last 100.`);
    },
  };
};
