import { type FieldError, impressionItemSchema } from '@adcap/contracts';
import type { z } from 'zod';
import type { Judgement } from './judgement.ts';
import { type ItemContext, toEvent } from './to-event.ts';

const plain = (message: string): string => message.replace(/^Invalid input: /, '');

/** Some fields take several forms: what each form asks for. */
const whatIsWrong = (issue: z.core.$ZodIssue): string => {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return plain(issue.message);
  const forms = issue.errors.flat().map(({ message }) => plain(message));
  return [...new Set(forms)].join('; or ');
};

const toFieldError = (issue: z.core.$ZodIssue): FieldError => ({
  field: issue.path.map(String).join('.'),
  message: whatIsWrong(issue),
});

/** Clients send their other events along, which need not have the fields of an impression. */
const isOtherEvent = (raw: unknown): boolean =>
  typeof raw === 'object' &&
  raw !== null &&
  'event' in raw &&
  typeof raw.event === 'string' &&
  raw.event !== 'impression';

/** Judges one item by itself, whatever is in it, so that a bad one harms no other. Never throws. */
export const judgeItem = (raw: unknown, context: ItemContext): Judgement => {
  if (isOtherEvent(raw)) return { kind: 'ignored', reason: 'other_event' };
  const parsed = impressionItemSchema.safeParse(raw);
  if (parsed.success) return toEvent(parsed.data, context);
  return { kind: 'rejected', reason: 'invalid', fields: parsed.error.issues.map(toFieldError) };
};
