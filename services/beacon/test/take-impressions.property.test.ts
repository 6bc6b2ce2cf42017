import { type ImpressionEvent, impressionEventSchema } from '@adcap/contracts';
import { createMetricsRegistry } from '@adcap/service-runtime';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameMark } from '../src/adapters/name-mark.ts';
import { judgeItem } from '../src/domain/judge-item.ts';
import type { Judgement } from '../src/domain/judgement.ts';
import { createMetrics } from '../src/metrics.ts';
import { createPublishOnce } from '../src/publish-once.ts';
import { createTakeImpressions } from '../src/take-impressions.ts';
import { someContext } from './beacon-fixtures.ts';
import { anyItem } from './impression-items.arbitraries.ts';
import { createInMemoryMarks } from './in-memory-marks.ts';

/** The first few of a list come again at its end. */
const someItems = fc
  .array(anyItem, { maxLength: 40, size: 'max' })
  .map((items) => [...items, ...items.slice(0, 5)]);

const RUNS = { numRuns: 300 };
const metrics = createMetrics(createMetricsRegistry(), { pendingMessages: () => 0 });

const isMoment = (judgement: Judgement): boolean =>
  judgement.kind === 'event' && judgement.event.identity === 'moment';

const openBeacon = () => {
  const published: ImpressionEvent[] = [];
  const publishOnce = createPublishOnce({
    publish: async (events) => {
      published.push(...events);
    },
    marks: createInMemoryMarks(),
    nameMark,
  });
  return { published, take: createTakeImpressions({ publishOnce, metrics }) };
};

test('takeImpressions accounts for every item of any list, and publishes what it calls accepted', async () => {
  const seen = { accepted: 0, duplicates: 0, ignored: 0, rejected: 0 };
  const property = fc.asyncProperty(someItems, async (items) => {
    const { published, take } = openBeacon();
    const { accepted, duplicates, ignored, rejected } = await take(
      items.map((item) => judgeItem(item, someContext())),
    );

    expect(accepted + duplicates + ignored + rejected.length).toBe(items.length);
    expect(published).toHaveLength(accepted);
    expect(new Set(published.map(({ fingerprint }) => fingerprint)).size).toBe(accepted);
    for (const { index, message } of rejected) {
      expect(items).toHaveProperty([index]);
      expect(message).not.toBe('');
    }
    seen.accepted += accepted;
    seen.duplicates += duplicates;
    seen.ignored += ignored;
    seen.rejected += rejected.length;
  });
  await fc.assert(property, RUNS);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
});

test('takeImpressions accepts nothing of a list that it is given again', async () => {
  const property = fc.asyncProperty(someItems, async (items) => {
    const { take } = openBeacon();
    const judge = () => items.map((item) => judgeItem(item, someContext()));
    const first = await take(judge());
    const again = await take(judge());
    // Views with no identity but their moment are measured against the last that counted, whose order a repeat changes.
    const moments = judge().filter(isMoment).length;
    expect(again.ignored).toBe(first.ignored);
    expect(again.rejected).toStrictEqual(first.rejected);
    expect(again.accepted).toBeLessThanOrEqual(moments);
  });
  await fc.assert(property, RUNS);
});

test('judgeItem makes events that every consumer can read', () => {
  const property = fc.property(anyItem, (item) => {
    const judgement = judgeItem(item, someContext());
    if (judgement.kind !== 'event') return;
    const read: unknown = JSON.parse(JSON.stringify(judgement.event));
    expect(impressionEventSchema.safeParse(read).success).toBe(true);
  });
  fc.assert(property, { numRuns: 2_000 });
});
