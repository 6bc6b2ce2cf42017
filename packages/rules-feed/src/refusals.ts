import type { BusLogger } from '@adcap/kafka-bus';
import type { RecordRefusal } from './read-rules-record.ts';
import type { RulesSource } from './rules-source.ts';

/** A set that was not taken, and why; the one in force stays. */
export type RefusedRules = {
  reason: RecordRefusal;
  detail: string;
  source: RulesSource;
  /** Where it says one. */
  version?: number | undefined;
};

/** What was not taken: said, counted, and kept until a good set comes from where it came from. */
export const createRefusals = (logger: BusLogger) => {
  const counts = { not_json: 0, newer_schema: 0, not_a_record: 0, wrong_rules: 0 } satisfies Record<
    RecordRefusal,
    number
  >;
  let last: RefusedRules | undefined;
  let lastDetail = '';
  return {
    last: (): RefusedRules | undefined => last,
    counts: (): Readonly<Record<RecordRefusal, number>> => counts,
    /** @param kept the version that stays in force */
    note: ({ reason, detail, source, version }: RefusedRules, kept: number | undefined): void => {
      // Redis is asked again and again: said once.
      if (detail === lastDetail && source === 'redis') return;
      lastDetail = detail;
      last = { reason, detail, source, version };
      counts[reason] += 1;
      logger.error({ reason, detail, source, version, kept }, 'a rule set was refused');
    },
    overtake: (source: RulesSource): void => {
      if (last?.source !== source && source !== 'bus') return;
      last = undefined;
      lastDetail = '';
    },
  };
};
