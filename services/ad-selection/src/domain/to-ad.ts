import { type Candidate, candidateSchema, type ValueKey } from '@adcap/contracts';
import type { Ad, AdValue } from '@adcap/rule-engine';

export type KeyOf = (value: string) => ValueKey;

/** What is known of an ad when it gets a place: enough to count it again. */
export type AdFacts = {
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
  durationMs?: number | undefined;
  seller?: string | undefined;
  exempt: boolean;
};

/** A candidate that can be judged, or what is wrong with it. */
export type Entry =
  | { kind: 'ad'; index: number; candidate: Candidate; ad: Ad }
  | { kind: 'invalid'; index: number; creativeId: string | null; error: { field: string; message: string } };

/** The ad as the rules see it. */
export const toAd = (facts: AdFacts, keyOf: KeyOf): Ad => {
  const bind = (value: string): AdValue => ({ value, key: keyOf(value) });
  return {
    creative: bind(facts.creativeId),
    campaign: facts.campaignId === undefined ? undefined : bind(facts.campaignId),
    brand: facts.brandId === undefined ? undefined : bind(facts.brandId),
    industries: facts.industryIds.map(bind),
    exempt: facts.exempt,
    durationMs: facts.durationMs,
  };
};

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
