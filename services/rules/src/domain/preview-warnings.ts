import type { Rule, RuleFinding, RuleSetDraft } from '@adcap/contracts';
import type { PreviewFigures } from './preview-tally.ts';
import type { Share } from './sampled-share.ts';

/** A change that would have blocked more of what was watched is asked about twice. */
const MUCH_BLOCKED = 0.05;

const THE_SET = '(rule set)';
/** Whoever reads more of them does not read them. */
const MOST_RULES_NAMED = 20;
const RULES_BLAMED = 3;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

const blocksMuch = (figures: PreviewFigures, { share, interval }: Share): RuleFinding[] => {
  if (share <= MUCH_BLOCKED) return [];
  const blamed = figures.byRule
    .filter(({ newlyBlocked }) => newlyBlocked > 0)
    .slice(0, RULES_BLAMED)
    .map(({ ruleId, newlyBlocked }) => `${ruleId} ${percent(newlyBlocked / figures.impressions)}`);
  const range =
    interval.low === interval.high ? '' : ` (95 %: ${percent(interval.low)} to ${percent(interval.high)})`;
  const message = `would have blocked ${percent(share)} of the impressions${range} that the rules in force allow: ${blamed.join(', ')}`;
  return [{ ruleId: THE_SET, field: 'rules', message }];
};

const notReplayed = (rule: Rule): RuleFinding | undefined => {
  const of = (field: string, message: string): RuleFinding => ({ ruleId: rule.id, field, message });
  if (rule.enabled === false || rule.mode === 'shadow') return undefined;
  if (rule.when !== undefined) return of('when', 'is not in the preview: a history tells no context');
  if (typeof rule.limit !== 'string' && rule.limit.window === 'pod')
    return of('limit.window', 'is not in the preview: a history tells no pods');
  return undefined;
};

/** Only what is changed: what stays as it is changes nothing of what the preview compares. */
const changedRules = (draft: RuleSetDraft, inForce: RuleSetDraft): readonly Rule[] => {
  const before = new Map(inForce.rules.map((rule) => [rule.id, JSON.stringify(rule)]));
  return draft.rules.filter((rule) => before.get(rule.id) !== JSON.stringify(rule));
};

/** What whoever puts a draft should know, from what it would have done. */
export const warnOfPreview = (
  preview: { figures: PreviewFigures; newlyBlocked: Share; isPartial: boolean; unreadable: number },
  { draft, inForce }: { draft: RuleSetDraft; inForce: RuleSetDraft },
): RuleFinding[] => {
  const { figures, newlyBlocked, isPartial, unreadable } = preview;
  const unseen = changedRules(draft, inForce).flatMap((rule) => notReplayed(rule) ?? []);
  const more = unseen.length - MOST_RULES_NAMED;
  const note = (message: string): RuleFinding => ({ ruleId: THE_SET, field: 'preview', message });
  return [
    ...blocksMuch(figures, newlyBlocked),
    ...unseen.slice(0, MOST_RULES_NAMED),
    ...(more > 0 ? [note(`${more} more rules are not in the preview`)] : []),
    ...(isPartial ? [note(`the time was up after ${figures.sampled} devices`)] : []),
    ...(unreadable > 0 ? [note(`${unreadable} impressions could not be read`)] : []),
    ...(figures.impressions === 0 ? [note('nothing was watched that a draft could be tried on')] : []),
  ];
};
