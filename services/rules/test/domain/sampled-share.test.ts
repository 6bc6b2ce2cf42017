import { describe, expect, test } from 'vitest';
import { createSampledShare } from '../../src/domain/sampled-share.ts';
import { seededRandom } from './support.ts';

const shareOf = (devices: readonly (readonly [all: number, hits: number])[], sampledPart = 0) => {
  const share = createSampledShare();
  for (const [all, hits] of devices) share.add(all, hits);
  return share.estimate(sampledPart);
};

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

describe('createSampledShare', () => {
  test('devices of one impression each: Wilson’s interval for a proportion', () => {
    // 10 of 100: 0.0552 to 0.1744 by the tables, here with n − 1 in the variance.
    const { share, interval } = shareOf([...times(10, [1, 1] as const), ...times(90, [1, 0] as const)]);
    expect(share).toBe(0.1);
    expect(interval.low).toBeCloseTo(0.055, 3);
    expect(interval.high).toBeCloseTo(0.175, 3);
  });

  test('impressions of one device are no independent observations', () => {
    const alike = shareOf([...times(10, [20, 20] as const), ...times(90, [20, 0] as const)]);
    const single = shareOf([...times(10, [1, 1] as const), ...times(90, [1, 0] as const)]);
    expect(alike.interval.low).toBeCloseTo(single.interval.low, 9);
    expect(alike.interval.high).toBeCloseTo(single.interval.high, 9);
  });

  test('where everybody was looked at there is no error', () => {
    expect(shareOf([...times(3, [4, 1] as const)], 1)).toEqual({
      share: 0.25,
      interval: { low: 0.25, high: 0.25 },
    });
  });

  test('nothing found in a few is no proof that there is nothing', () => {
    const { share, interval } = shareOf(times(100, [30, 0] as const));
    expect([share, interval.low]).toEqual([0, 0]);
    expect(interval.high).toBeCloseTo(0.037, 3);
    expect(shareOf(times(100, [30, 0] as const), 0.9).interval.high).toBeLessThan(0.004);
  });

  test('a device of which nothing was judged says nothing', () => {
    expect(shareOf([[0, 0]])).toEqual({ share: 0, interval: { low: 0, high: 1 } });
  });

  test('of 1,000 random samples of uneven devices at least 930 hold the true share', () => {
    const random = seededRandom(7);
    // Few devices watch much, and what watches much is blocked more often.
    const population = Array.from({ length: 20_000 }, () => {
      const all = 1 + Math.floor(60 * random() ** 3);
      const chance = all > 30 ? 0.15 : 0.02;
      return [all, Array.from({ length: all }, random).filter((drawn) => drawn < chance).length] as const;
    });
    const sum = (at: 0 | 1): number => population.reduce((total, device) => total + device[at], 0);
    const truth = sum(1) / sum(0);
    let holds = 0;
    for (let round = 0; round < 1_000; round += 1) {
      const sample = Array.from({ length: 300 }, () => population[Math.floor(random() * 20_000)] ?? [0, 0]);
      const { interval } = shareOf(sample as never, 300 / 20_000);
      if (interval.low <= truth && truth <= interval.high) holds += 1;
    }
    expect(holds).toBeGreaterThanOrEqual(930);
    // As wide as one may wish would hold it always.
    expect(holds).toBeLessThanOrEqual(980);
  });
});
