import type { Rule, RuleSetDraft } from '@adcap/contracts';
import type { RuleSetDiff } from '@adcap/rule-engine';
import type { Preview } from './rules-client.ts';

/** A change that would have blocked a larger share of yesterday's impressions is asked for twice. */
const MUCH_BLOCKED = 0.05;

type Word = Rule & { limit: 'OFF' | 'BLOCK' };

const isEndless = (rule: Rule): rule is Word =>
  typeof rule.limit === 'string' &&
  rule.endsAt === undefined &&
  rule.enabled !== false &&
  rule.mode !== 'shadow';

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Why a change should be thought about once more. Of what is in force already nobody is asked again. */
export const doubtsOf = (draft: RuleSetDraft, diff: RuleSetDiff, preview: Preview | undefined): string[] => {
  const touched = new Set([...diff.added, ...diff.changed].map(({ id }) => id));
  const endless = draft.rules.filter((rule) => touched.has(rule.id)).filter(isEndless);
  return [
    ...endless.map(({ id, limit }) => `rule ${id} says ${limit} and has no end`),
    ...(preview !== undefined && preview.newlyBlockedShare > MUCH_BLOCKED
      ? [
          `${percent(preview.newlyBlockedShare)} of yesterday's impressions would have been blocked by this change`,
        ]
      : []),
  ];
};
