import { expect, test } from 'vitest';
import { RuleTotals } from '../src/rule-totals.ts';
import { cap, rulesOf } from './domain/scene.ts';

const counts = (evaluated: number) => ({ evaluated, near: 1, blocked: 0, shadowBlocked: 0 });
const rule = (id: string) => ({ id, dimension: 'creative' as const, value: id, limit: cap('1/60m') });

test('totals are of rules in force: one that is gone is forgotten, one that stays goes on', () => {
  let rules = rulesOf([rule('goes'), rule('stays')]);
  const totals = new RuleTotals(() => rules);
  totals.add(
    new Map([
      ['goes', counts(1)],
      ['stays', counts(2)],
    ]),
  );
  rules = rulesOf([rule('stays'), rule('comes')]);
  // Decided under the set before, and counted after it.
  totals.add(
    new Map([
      ['goes', counts(1)],
      ['stays', counts(3)],
      ['comes', counts(4)],
    ]),
  );
  expect(totals.all()).toEqual(
    new Map([
      ['stays', { evaluated: 5, near: 2, blocked: 0, shadowBlocked: 0 }],
      ['comes', counts(4)],
    ]),
  );
  rules = rulesOf([]);
  expect(totals.all()).toEqual(new Map());
});
