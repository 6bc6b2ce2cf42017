/** A share of something, estimated from a random sample of devices, with the interval that holds it in 95 of 100 samples. */
export type Share = { share: number; interval: { low: number; high: number } };

/** Sums over the sampled devices: what each has (`all`) and how much of that counts (`hits`). */
export type SampledShare = {
  add(all: number, hits: number): void;
  /** @param sampledPart how much of all devices the sample is, 0 to 1; 1: there is no error */
  estimate(sampledPart: number): Share;
};

/** Of the normal distribution, for 95 %. */
const Z = 1.959_964;

/** Wilson's interval: it stays within 0 and 1, and is not empty where nothing or everything was hit. */
const wilson = (share: number, size: number): Share['interval'] => {
  const z2 = Z * Z;
  const middle = (share + z2 / (2 * size)) / (1 + z2 / size);
  const half = (Z / (1 + z2 / size)) * Math.sqrt((share * (1 - share)) / size + z2 / (4 * size * size));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
};

/**
 * The share of impressions, where not impressions were drawn but devices: those of one device are alike, and are no
 * independent observations.
 *
 * The device is the sampling unit. The variance is that of a ratio to size over clusters, with the finite population
 * correction (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, section 3.12: (1 − f) · n / (n − 1) · Σ (hits − share ·
 * all)² / (Σ all)²). The interval is Wilson's over the effective number of independent observations, share · (1 − share)
 * / variance (Korn and Graubard 1998; Dean and Pagano 2015 compare such intervals). Where no device or each of them was
 * hit there is no variance to be seen: the effective number is then the number of devices, as if those of a device were
 * all alike, which is the careful end.
 */
export const createSampledShare = (): SampledShare => {
  let devices = 0;
  let all = 0;
  let hits = 0;
  let squares = { all: 0, hits: 0, both: 0 };
  return {
    add: (ofDevice, hitsOfDevice) => {
      if (ofDevice === 0) return;
      devices += 1;
      all += ofDevice;
      hits += hitsOfDevice;
      squares = {
        all: squares.all + ofDevice * ofDevice,
        hits: squares.hits + hitsOfDevice * hitsOfDevice,
        both: squares.both + ofDevice * hitsOfDevice,
      };
    },
    estimate: (sampledPart) => {
      if (all === 0) return { share: 0, interval: { low: 0, high: 1 } };
      const share = hits / all;
      const unseen = Math.max(0, 1 - sampledPart);
      if (unseen === 0) return { share, interval: { low: share, high: share } };
      const deviations = Math.max(0, squares.hits - 2 * share * squares.both + share * share * squares.all);
      const variance = devices < 2 ? 0 : (unseen * devices * deviations) / ((devices - 1) * all * all);
      const size = variance > 0 ? (share * (1 - share)) / variance : devices / unseen;
      return { share, interval: wilson(share, size) };
    },
  };
};
