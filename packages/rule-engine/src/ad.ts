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
