/**
 * What became of one event. `drop` is a refusal that needs no trace but a count; `retry` did not work yet; `deadLetter`
 * can never work and is set aside with its reason.
 */
export type Outcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'drop'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly cause?: unknown }
  | { readonly kind: 'deadLetter'; readonly reason: string; readonly cause?: unknown };

export const ok: Outcome = { kind: 'ok' };
export const drop = (reason: string): Outcome => ({ kind: 'drop', reason });
export const retry = (reason: string, cause?: unknown): Outcome => ({ kind: 'retry', reason, cause });
export const deadLetter = (reason: string, cause?: unknown): Outcome => ({
  kind: 'deadLetter',
  reason,
  cause,
});
