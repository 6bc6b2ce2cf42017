/** The refusals of all scripts, as the Lua files return them. A number is never used twice. */
export const REFUSALS = {
  erased: -1,
  expired: -2,
  too_late: -3,
  conflict: -4,
  full: -5,
} as const;

export type Refusal = keyof typeof REFUSALS;

const BY_CODE: ReadonlyMap<number, Refusal> = new Map([
  [REFUSALS.erased, 'erased'],
  [REFUSALS.expired, 'expired'],
  [REFUSALS.too_late, 'too_late'],
  [REFUSALS.conflict, 'conflict'],
  [REFUSALS.full, 'full'],
]);

/** The refusal behind a negative reply; `undefined` where the reply is none. */
export const refusalOf = (code: number): Refusal | undefined => BY_CODE.get(code);
