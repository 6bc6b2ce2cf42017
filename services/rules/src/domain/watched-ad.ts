import type { EpochMs, ValueKey } from '@adcap/contracts';
import type { Ad, AdValue, Watched } from '@adcap/rule-engine';

export type KeyOf = (value: string) => ValueKey;

/** The values that an ad is counted under, as the history and recorded decisions name them. */
export type AdIds = {
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
};

export const adOf = (ids: AdIds, keyOf: KeyOf, exempt = false): Ad => {
  const bind = (value: string): AdValue => ({ value, key: keyOf(value) });
  return {
    creative: bind(ids.creativeId),
    campaign: ids.campaignId === undefined ? undefined : bind(ids.campaignId),
    brand: ids.brandId === undefined ? undefined : bind(ids.brandId),
    industries: ids.industryIds.map(bind),
    exempt,
  };
};

/** What was watched, as it is replayed. Whether an ad was exempt is not known of it: none is taken for one. */
export const watchedOf = (record: AdIds & { at: EpochMs }, keyOf: KeyOf): Watched => ({
  ad: adOf(record, keyOf),
  at: record.at,
});
