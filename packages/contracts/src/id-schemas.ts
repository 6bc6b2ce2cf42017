import { z } from 'zod';
import { normaliseBrandKey } from './brand-key.ts';
import { LIMITS } from './limits.ts';
import { isUnfilled } from './unfilled.ts';

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** 1–256 well-formed printable characters. */
export const idText = z
  .string()
  .max(LIMITS.idLength, `must have at most ${LIMITS.idLength} characters`)
  .refine((value) => value.isWellFormed() && !UNPRINTABLE.test(value), 'must be well-formed printable text');

/** An id that must be there: an unfilled one is refused. */
export const requiredId = idText.refine((value) => !isUnfilled(value), 'is empty or an unfilled macro');

/** An id that may be missing: null, empty and unfilled ones are missing. */
export const optionalId = idText
  .nullish()
  .transform((value) => (value === null || value === undefined || isUnfilled(value) ? undefined : value));

/** A brand key, normalised once on the way in (law 9). */
export const optionalBrandId = optionalId.transform((value) =>
  value === undefined ? undefined : normaliseBrandKey(value),
);

/** Industries: unfilled ones are left out, repeats folded. */
export const industryIds = z
  .array(idText)
  .max(LIMITS.industries, `at most ${LIMITS.industries} industries`)
  .nullish()
  .transform((values) => [...new Set((values ?? []).filter((value) => !isUnfilled(value)))]);

const UNIDENTIFIED_NUMBERS: ReadonlySet<number> = new Set([0, -1, -2]);

/**
 * A device on the wire. `undefined` after parsing means unidentified (law 8): missing, empty, a sentinel (also as a
 * number) or an unfilled macro. Anything else that is not text is an error.
 */
export const wireDeviceId = z
  .union([idText, z.number().refine((value) => UNIDENTIFIED_NUMBERS.has(value), 'must be a string')])
  .nullish()
  .transform((value) => (typeof value === 'string' && !isUnfilled(value) ? value : undefined));
