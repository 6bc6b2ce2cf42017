import type { EpochMs } from '@adcap/contracts';
import { type AdNames, type KeyOf, toAd, type Watched } from '@adcap/rule-engine';

/** What was watched, as it is replayed. Whether an ad was exempt is not known of it: none is taken for one. */
export const watchedOf = (record: AdNames & { at: EpochMs }, keyOf: KeyOf): Watched => ({
  ad: toAd({ ...record, exempt: false }, keyOf),
  at: record.at,
});
