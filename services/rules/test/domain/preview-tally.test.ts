import { describe, expect, test } from 'vitest';
import { createPreviewTally } from '../../src/domain/preview-tally.ts';
import { capRule, clock, rulesOf, watched } from './support.ts';

const HOURLY = rulesOf(capRule('hourly', 1));
const NONE = rulesOf();

const tallyOf = (rules: { draft: typeof NONE; inForce?: typeof NONE; since?: string }) =>
  createPreviewTally({
    draft: rules.draft,
    inForce: rules.inForce ?? NONE,
    sinceMs: clock(rules.since ?? '00:00'),
  });

describe('createPreviewTally', () => {
  test('counts what the draft blocks, whom that touches and which rule does it', () => {
    const tally = tallyOf({
      draft: rulesOf(capRule('generic', 2), capRule('c1 daily', 1, { value: 'c1', window: '24h' })),
    });
    tally.add(watched('c1 08:00', 'c1 10:00', 'c2 10:01', 'c2 10:02', 'c2 10:03', 'c1 11:00'));
    tally.add(watched('c2 08:00', 'c1 12:00'));
    expect(tally.figures()).toMatchObject({
      impressions: 8,
      blocked: 3,
      blockedNow: 0,
      newlyBlocked: 3,
      newlyAllowed: 0,
      sampled: 2,
      devices: 1,
      newlyBlockedDevices: 1,
      byRule: [
        { ruleId: 'c1 daily', blocked: 2, newlyBlocked: 2, devices: 1 },
        { ruleId: 'generic', blocked: 1, newlyBlocked: 1, devices: 1 },
      ],
      oldest: clock('08:00'),
      newest: clock('12:00'),
    });
  });

  test('each past is lived as it would have been under its rules', () => {
    // The draft blocks 08:30 and so allows 09:10; the rules in force block 09:10, having allowed 08:30.
    const tally = tallyOf({ draft: HOURLY, inForce: rulesOf(capRule('two', 2, { window: '90m' })) });
    tally.add(watched('c1 08:00', 'c1 08:30', 'c1 09:10'));
    expect(tally.figures()).toMatchObject({
      blocked: 1,
      blockedNow: 1,
      newlyBlocked: 1,
      newlyAllowed: 1,
    });
  });

  test('what was watched before counts in windows and in no figure', () => {
    const tally = tallyOf({ draft: HOURLY, since: '09:00' });
    tally.add(watched('c1 08:00', 'c1 08:30', 'c1 09:00', 'c1 09:30'));
    tally.add(watched('c1 07:00'));
    expect(tally.figures()).toMatchObject({ impressions: 2, blocked: 1, sampled: 2, oldest: clock('09:00') });
  });

  test('a set that is not changed blocks and allows nothing new', () => {
    const tally = tallyOf({ draft: HOURLY, inForce: HOURLY });
    tally.add(watched('c1 08:00', 'c1 08:10', 'c1 08:20'));
    expect(tally.figures()).toMatchObject({ blocked: 2, blockedNow: 2, newlyBlocked: 0, newlyAllowed: 0 });
    expect(tally.shares(1)).toMatchObject({ blocked: { share: 2 / 3 }, newlyBlocked: { share: 0 } });
  });

  test('of nothing there is nothing to say', () => {
    const tally = tallyOf({ draft: HOURLY });
    expect(tally.figures()).toMatchObject({ impressions: 0, oldest: undefined, newest: undefined });
    expect(tally.shares(1).blocked).toEqual({ share: 0, interval: { low: 0, high: 1 } });
  });
});
