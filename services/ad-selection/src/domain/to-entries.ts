import { type Candidate, candidateSchema } from '@adcap/contracts';
import { type Ad, type AdNames, type KeyOf, toAd } from '@adcap/rule-engine';

/** What is known of an ad when it gets a place: enough to count it again. */
export type AdFacts = AdNames & {
  durationMs?: number | undefined;
  seller?: string | undefined;
  exempt: boolean;
};

/** A candidate that can be judged, or what is wrong with it. */
export type Entry =
  | { kind: 'ad'; index: number; candidate: Candidate; ad: Ad }
  | { kind: 'invalid'; index: number; creativeId: string | null; error: { field: string; message: string } };

const creativeIdOf = (raw: unknown): string | null =>
  typeof raw === 'object' && raw !== null && 'creativeId' in raw && typeof raw.creativeId === 'string'
    ? raw.creativeId
    : null;

/** Reads candidates one by one: a bad one is `invalid` with its field and harms nobody else. */
export const toEntries = (candidates: readonly unknown[], keyOf: KeyOf): Entry[] =>
  candidates.map((raw, index): Entry => {
    const parsed = candidateSchema.safeParse(raw);
    if (parsed.success) return { kind: 'ad', index, candidate: parsed.data, ad: toAd(parsed.data, keyOf) };
    const [issue] = parsed.error.issues;
    const error = {
      field: issue?.path.map(String).join('.') ?? '',
      message: issue?.message ?? 'is not valid',
    };
    return { kind: 'invalid', index, creativeId: creativeIdOf(raw), error };
  });
