import { epochMs, type Rule } from '@adcap/contracts';
import { compileRules } from '@adcap/rule-engine';
import { decisionOf, microseconds, NOW, say } from './decisions.ts';

/*
 * What a decision costs under how many rules, without Redis and HTTP: 30 views, 20 candidates, a pod of 4. Rules of single values
 * are looked up, so that their number should not show; generic ones under a `when` are looked through, one by one.
 */

const NUMBERS = [10, 500, 5_000];
const CANDIDATES = 20;
const BASE: Rule[] = [
  { id: 'creative', dimension: 'creative', limit: { max: 3, window: '24h' } },
  { id: 'brand', dimension: 'brand', limit: { max: 4, window: '24h' } },
];

const specific = (index: number): Rule => ({
  id: `spot ${index}`,
  dimension: 'creative',
  value: `creative ${index}`,
  limit: { max: 2, window: '60m' },
  endsAt: epochMs(NOW + (index + 1) * 1_000),
});

const ofChannel = (index: number): Rule => ({
  id: `channel ${index}`,
  dimension: 'creative',
  limit: { max: 2, window: '60m' },
  when: { channel: [`channel ${index}`] },
});

const decisionUnder = (make: (index: number) => Rule, count: number) => {
  const rules = [...BASE, ...Array.from({ length: count - BASE.length }, (_, index) => make(index))];
  return decisionOf(CANDIDATES, 'nothing', compileRules({ version: 1, dimensions: {}, rules }));
};

for (const [what, make] of Object.entries({
  'of one value each': specific,
  'generic, each of a channel': ofChannel,
})) {
  const times = microseconds(...NUMBERS.map((count) => decisionUnder(make, count)));
  for (const [index, count] of NUMBERS.entries())
    say(`${count} rules ${what}: ${(times[index] ?? NaN).toFixed(0)} µs a decision`);
}
