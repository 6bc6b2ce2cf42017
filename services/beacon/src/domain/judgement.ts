import type { FieldError, ImpressionEvent, RejectReason } from '@adcap/contracts';

/** Why an item is answered without being counted, though nothing is wrong with it. */
export type IgnoreReason = 'unidentified' | 'other_event' | 'prefetch';

/** What becomes of one item. What is wrong with it names the field, or `''` for the item as a whole. */
export type Judgement =
  | { readonly kind: 'event'; readonly event: ImpressionEvent }
  | { readonly kind: 'ignored'; readonly reason: IgnoreReason }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly fields: readonly FieldError[] };
