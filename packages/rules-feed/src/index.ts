export { loadRulesFile, RulesFileError } from './load-rules-file.ts';
export {
  RECORD_REFUSALS,
  type ReadRecord,
  type RecordRefusal,
  readRulesRecord,
} from './read-rules-record.ts';
export type { RefusedRules } from './refusals.ts';
export {
  createRulesFeed,
  type RulesChange,
  type RulesFeed,
  type RulesFeedOptions,
} from './rules-feed.ts';
export type { RulesSource } from './rules-source.ts';
