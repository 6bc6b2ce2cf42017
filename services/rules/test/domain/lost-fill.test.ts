import { toAd } from '@adcap/rule-engine';
import { describe, expect, test } from 'vitest';
import { createLostFillTally, type RecordedDecision } from '../../src/domain/lost-fill.ts';
import { capRule, clock, ids, keyOf, rulesOf, watched } from './support.ts';

const decided = (time: string, placed: readonly string[], spare = 0): RecordedDecision => ({
  breakAt: clock(time),
  placed: placed.map((name) => toAd({ ...ids(name), exempt: name === 'house' }, keyOf)),
  spare,
});

const lostOf = (decisions: readonly RecordedDecision[], rules = rulesOf(capRule('hourly', 1))) => {
  const tally = createLostFillTally(rules);
  tally.add(watched('c1 08:00', 'c1 08:30', 'c2 08:40', 'c1 09:10'), decisions);
  return tally.result();
};

describe('createLostFillTally', () => {
  test.for([
    ['an ad that the draft blocks', decided('08:50', ['c1']), 1],
    ['and another that it allows', decided('08:20', ['c1', 'c3']), 1],
    ['of two blocked ones one had a spare', decided('08:50', ['c1', 'c2'], 1), 1],
    ['every one had a spare', decided('08:50', ['c1', 'c2'], 2), 0],
    ['twice in one pod', decided('12:00', ['c1', 'c1']), 1],
    ['what was watched at the instant itself counts', decided('08:00', ['c1']), 1],
    ['before anything was watched', decided('07:59', ['c1']), 0],
    ['a view that the draft would have blocked counts for nothing', decided('09:05', ['c1']), 0],
    ['a house ad', decided('08:50', ['house', 'house']), 0],
  ] as const)('%s', ([, decision, lost]) => {
    expect(lostOf([decision])?.lost).toBe(lost);
  });

  test('adds up devices and decisions', () => {
    const tally = createLostFillTally(rulesOf(capRule('hourly', 1)));
    tally.add(watched('c1 08:00'), [decided('08:10', ['c1', 'c2']), decided('08:20', ['c1'])]);
    tally.add(watched('c1 08:00'), [decided('10:00', ['c1'])]);
    tally.add(watched('c1 08:00'), []);
    expect(tally.result()).toMatchObject({
      decisions: 3,
      devices: 2,
      slots: 4,
      lost: 2,
      lostShare: 0.5,
      oldest: clock('08:10'),
      newest: clock('10:00'),
    });
  });

  test('says nothing where nothing was decided', () => {
    const tally = createLostFillTally(rulesOf());
    tally.add(watched('c1 08:00'), []);
    expect(tally.result()).toBeUndefined();
  });

  test('knows what a pod may hold', () => {
    const podRule = capRule('pod', 1, { window: 'pod' });
    expect(lostOf([decided('12:00', ['c5', 'c5', 'c6'])], rulesOf(podRule))?.lost).toBe(1);
  });
});
