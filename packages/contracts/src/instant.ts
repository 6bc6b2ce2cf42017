import { z } from 'zod';
import { type EpochMs, epochMs } from './ids.ts';

/** 1973-03-03: every count of epoch seconds lies below it until the year 5138. */
const EARLIEST_MS = 1e11;
const LATEST_MS = 1e14;
const WHAT = 'must be epoch milliseconds or an ISO 8601 instant with a zone';

const isoInstant = z.union([
  z.iso.datetime({ offset: true }),
  z.iso.datetime({ offset: true, precision: -1 }),
]);

const fromNumber = (value: number): EpochMs | undefined =>
  Number.isFinite(value) && value >= EARLIEST_MS && value < LATEST_MS
    ? epochMs(Math.floor(value))
    : undefined;

/** `+0100` is ISO 8601 basic form of an offset; the extended form is what the parser takes. */
const withExtendedOffset = (value: string): string => value.replace(/([+-]\d{2})(\d{2})$/, '$1:$2');

const fromText = (value: string): EpochMs | undefined => {
  const text = withExtendedOffset(value.trim());
  return isoInstant.safeParse(text).success ? fromNumber(Date.parse(text)) : undefined;
};

const check = (found: EpochMs | undefined, ctx: z.RefinementCtx): EpochMs => {
  if (found !== undefined) return found;
  ctx.addIssue({ code: 'custom', message: WHAT });
  return z.NEVER;
};

/** An instant in JSON: epoch ms as a number, or ISO 8601 with a zone. Never epoch seconds, never a zoneless time. */
export const instantSchema = z
  .union([z.number(), z.string()], { error: WHAT })
  .transform((value, ctx) => check(typeof value === 'number' ? fromNumber(value) : fromText(value), ctx));

/** An instant in a query: the same, with epoch ms in digits. */
export const queryInstantSchema = z
  .string({ error: WHAT })
  .transform((value, ctx) => check(/^\d+$/.test(value) ? fromNumber(Number(value)) : fromText(value), ctx));
