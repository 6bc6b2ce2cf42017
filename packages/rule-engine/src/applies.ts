import type { Context, EpochMs } from '@adcap/contracts';
import type { CompiledRule } from './compile-rules.ts';

/** Where and when a decision is made: what `when`, `startsAt` and `endsAt` are judged by. */
export type Circumstances = { at: EpochMs; context: Context };

/** Whether a rule's `when` selects a context. */
export const whenFits = (rule: CompiledRule, context: Context): boolean => {
  for (const [key, wanted] of rule.when) {
    const given = Object.hasOwn(context, key) ? context[key] : undefined;
    if (given === undefined) return false;
    const fits = typeof given === 'string' ? wanted.has(given) : given.some((value) => wanted.has(value));
    if (!fits) return false;
  }
  return true;
};

/** Why a rule does not apply, or `undefined` where it does. */
export type NotApplying = 'disabled' | 'not_in_time' | 'when_does_not_fit';

/** Whether a rule is enabled, in its time (start inclusive, end exclusive) and fits the context. */
export const whyNotApplying = (
  rule: CompiledRule,
  { at, context }: Circumstances,
): NotApplying | undefined => {
  if (!rule.enabled) return 'disabled';
  if (rule.startsAt !== undefined && at < rule.startsAt) return 'not_in_time';
  if (rule.endsAt !== undefined && at >= rule.endsAt) return 'not_in_time';
  return whenFits(rule, context) ? undefined : 'when_does_not_fit';
};

export const applies = (rule: CompiledRule, circumstances: Circumstances): boolean =>
  whyNotApplying(rule, circumstances) === undefined;
