import type { Dimension, ValueKey } from '@adcap/contracts';

/** A dimension's value as written and as counted. */
export type AdValue = { value: string; key: ValueKey };

/** An ad as the rules see it: at most one creative, campaign and brand, any number of industries. */
export type Ad = {
  creative: AdValue;
  campaign?: AdValue | undefined;
  brand?: AdValue | undefined;
  industries: readonly AdValue[];
  /** House ad or slate: never capped, except by BLOCK. */
  exempt: boolean;
  durationMs?: number | undefined;
};

export type KeyOf = (value: string) => ValueKey;

/** What an ad is called: its values as they are written. */
export type AdNames = {
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
};

/** The ad as the rules see it. */
export const toAd = (
  names: AdNames & { exempt: boolean; durationMs?: number | undefined },
  keyOf: KeyOf,
): Ad => {
  const bind = (value: string): AdValue => ({ value, key: keyOf(value) });
  return {
    creative: bind(names.creativeId),
    campaign: names.campaignId === undefined ? undefined : bind(names.campaignId),
    brand: names.brandId === undefined ? undefined : bind(names.brandId),
    industries: names.industryIds.map(bind),
    exempt: names.exempt,
    durationMs: names.durationMs,
  };
};

/** The values of an ad in one dimension. */
export const valuesOf = (ad: Ad, dimension: Dimension): readonly AdValue[] => {
  switch (dimension) {
    case 'creative':
      return [ad.creative];
    case 'campaign':
      return ad.campaign === undefined ? [] : [ad.campaign];
    case 'brand':
      return ad.brand === undefined ? [] : [ad.brand];
    case 'industry':
      return ad.industries;
  }
};
