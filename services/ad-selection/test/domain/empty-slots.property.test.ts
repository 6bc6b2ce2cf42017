import { aTimedPod } from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cap, createDevice, told } from './scene.ts';

test('every slot that is unfilled, and no other, has reasons, in any pod, round and fixed order', () => {
  const holds = (
    pod: typeof aTimedPod extends fc.Arbitrary<infer Value> ? Value : never,
    isFixed: boolean,
  ) => {
    const device = createDevice({
      rules: [
        { dimension: 'creative', limit: cap('1/60m') },
        { dimension: 'industry', limit: cap('1/pod') },
      ],
    });
    const candidates = pod.ads.map((ad) => ({
      creativeId: ad.creative,
      industryIds: ad.industries,
      exempt: ad.exempt,
      durationMs: ad.durationMs,
    }));
    const ask = { isFixed, slots: pod.slots, podDurationMs: pod.podDurationMs };
    for (const [round, offered] of [candidates.slice(2), candidates].entries()) {
      const {
        pod: placed,
        unfilled,
        emptySlots = [],
        candidates: answers,
      } = told(device.ask({ ...ask, round: round + 1, candidates: offered }));
      const taken = new Set(placed.map(({ slot }) => slot));
      const empty = pod.slots.map((_, index) => index + 1).filter((slot) => !taken.has(slot));
      expect([emptySlots.map(({ slot }) => slot), unfilled]).toEqual([empty, empty.length]);
      const leftOver = answers.filter(({ outcome }) => outcome !== 'placed').length;
      for (const { reasons } of emptySlots) {
        expect(reasons.length).toBeGreaterThan(0);
        const kept = reasons.reduce((sum, { candidates: count }) => sum + count, 0);
        expect(kept).toBeLessThanOrEqual(leftOver);
        expect(kept === 0).toBe(reasons[0]?.reason === 'noCandidates');
        // Whoever was left over did not fit this slot, whichever it is.
        expect(isFixed || kept === 0 || kept === leftOver).toBe(true);
      }
    }
  };
  fc.assert(fc.property(aTimedPod, fc.boolean(), holds), { numRuns: 2_000 });
});
