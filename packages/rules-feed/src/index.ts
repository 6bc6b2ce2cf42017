export { loadRulesFile, RulesFileError } from './load-rules-file.ts';
export {
  RECORD_REFUSALS,
  type ReadRecord,
  type RecordRefusal,
  readRulesRecord,
} from './read-rules-record.ts';
export {
  createRulesFeed,
  type RulesChange,
  type RulesFeed,
  type RulesFeedOptions,
  type RulesSource,
} from './rules-feed.ts';
