import type { FieldError, ImpressionEvent, ImpressionsAnswer } from '@adcap/contracts';
import type { IgnoreReason, Judgement } from './judgement.ts';

/** The items of one request by what becomes of them. */
export type JudgedBatch = {
  events: readonly ImpressionEvent[];
  ignored: readonly IgnoreReason[];
  rejected: ImpressionsAnswer['rejected'];
};

const sentence = (fields: readonly FieldError[]): string =>
  fields.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ');

/** Sorts the judgements of a request; a rejected item keeps its place, so that the caller finds it. */
export const judgedBatch = (judgements: readonly Judgement[]): JudgedBatch => {
  const events: ImpressionEvent[] = [];
  const ignored: IgnoreReason[] = [];
  const rejected: ImpressionsAnswer['rejected'] = [];
  for (const [index, judgement] of judgements.entries()) {
    if (judgement.kind === 'event') events.push(judgement.event);
    else if (judgement.kind === 'ignored') ignored.push(judgement.reason);
    else rejected.push({ index, reason: judgement.reason, message: sentence(judgement.fields) });
  }
  return { events, ignored, rejected };
};
