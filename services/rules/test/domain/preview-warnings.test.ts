import type { Rule } from '@adcap/contracts';
import { describe, expect, test } from 'vitest';
import { createPreviewTally } from '../../src/domain/preview-tally.ts';
import { warnOfPreview } from '../../src/domain/preview-warnings.ts';
import { capRule, rulesOf, watched } from './support.ts';

type Scene = {
  draft?: readonly Rule[];
  inForce?: readonly Rule[];
  blocked?: number;
  of?: number;
  isPartial?: boolean;
  unreadable?: number;
};

const DAILY = capRule('daily', 1, { window: '24h' });

const warningsOf = ({ draft = [DAILY], inForce = [], blocked = 0, of = 100, ...more }: Scene) => {
  const tally = createPreviewTally({ draft: rulesOf(...draft), inForce: rulesOf(...inForce), sinceMs: 0 });
  for (let device = 0; device < of - blocked; device += 1)
    tally.add(device < blocked ? watched('c1 08:00', 'c1 08:10') : watched('c1 08:00'));
  const preview = {
    figures: tally.figures(),
    newlyBlocked: tally.shares(0).newlyBlocked,
    isPartial: false,
    unreadable: 0,
    ...more,
  };
  const set = (rules: readonly Rule[]) => ({ dimensions: {}, rules });
  return warnOfPreview(preview, { draft: set(draft), inForce: set(inForce) });
};

describe('warnOfPreview', () => {
  test('6 of 100 is over 5 %: said with its error and the rule', () => {
    const [warning, ...others] = warningsOf({ blocked: 6 });
    expect(warning).toMatchObject({ ruleId: '(rule set)', field: 'rules' });
    expect(warning?.message).toMatch(
      /^would have blocked 6\.0 % .*95 %: \d+\.\d % to \d+\.\d %.*: daily 6\.0 %$/,
    );
    expect(others).toEqual([]);
  });

  test.for([
    ['5 of 100 is not over 5 %', { blocked: 5 }],
    ['what is blocked today already is no change', { blocked: 20, inForce: [DAILY] }],
  ] as const)('%s', ([, scene]) => {
    expect(warningsOf(scene)).toEqual([]);
  });

  const where = capRule('where', 1, { when: { market: ['dk'] } });
  const pod = capRule('pod', 1, { window: 'pod' });
  test.for([
    ['a rule with a when', [where], [], [['where', 'when']]],
    ['a pod window', [pod], [], [['pod', 'limit.window']]],
    ['one that is not changed', [where], [where], []],
    [
      'one that blocks nothing anyway',
      [
        { ...where, enabled: false },
        { ...pod, mode: 'shadow' },
      ],
      [],
      [],
    ],
  ] as const)('says what cannot be tried: %s', ([, draft, inForce, expected]) => {
    const warnings = warningsOf({ draft: draft as never, inForce });
    expect(warnings.map(({ ruleId, field }) => [ruleId, field])).toEqual(expected);
  });

  test('names the first rules of many that cannot be tried', () => {
    const draft = Array.from({ length: 30 }, (_, index) => ({
      ...where,
      id: `r${index}`,
      value: `c${index}`,
    }));
    const warnings = warningsOf({ draft });
    expect(warnings.length).toBe(21);
    expect(warnings.at(-1)?.message).toBe('10 more rules are not in the preview');
  });

  test('says that it is not whole, that something could not be read, that there was nothing', () => {
    const messages = warningsOf({ of: 0, isPartial: true, unreadable: 3 }).map(({ message }) => message);
    expect(messages).toEqual([
      'the time was up after 0 devices',
      '3 impressions could not be read',
      'nothing was watched that a draft could be tried on',
    ]);
  });
});
