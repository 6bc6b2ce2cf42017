import type { RuleFinding, RuleSetDraft } from '@adcap/contracts';
import { parseRuleSet, type RuleBounds } from '@adcap/rule-engine';
import { z } from 'zod';

export type JudgedBody =
  | { ok: true; draft: RuleSetDraft; note: string | undefined }
  | { ok: false; errors: readonly RuleFinding[] };

/** Beside the set itself: what GET has answered with it, and why it is changed. */
const FURTHER_FIELDS = ['version', 'note'];
const MAX_NOTE_LENGTH = 1_000;
const noteSchema = z.object({ note: z.string().max(MAX_NOTE_LENGTH).optional() });
const NOTE_FINDING: RuleFinding = {
  ruleId: '(rule set)',
  field: 'note',
  message: `must be text of at most ${MAX_NOTE_LENGTH} characters`,
};
/** Whoever mends a set with thousands of faults begins with the first ones. */
const MAX_FINDINGS = 100;

/** `{ dimensions?, rules, note? }` judged whole, by the same measure where it is only asked and where it is put. */
export const judgeBody = (body: unknown, bounds: RuleBounds): JudgedBody => {
  const set = parseRuleSet(body, bounds, FURTHER_FIELDS);
  if (!set.ok && set.errors.some(({ field }) => field === '')) return set;
  const note = noteSchema.safeParse(body);
  if (set.ok && note.success) return { ok: true, draft: set.draft, note: note.data.note };
  const errors = [...(set.ok ? [] : set.errors), ...(note.success ? [] : [NOTE_FINDING])];
  return { ok: false, errors: errors.slice(0, MAX_FINDINGS) };
};
