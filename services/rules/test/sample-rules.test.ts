import path from 'node:path';
import { warnRuleSet } from '@adcap/rule-engine';
import { loadRulesFile } from '@adcap/rules-feed';
import { expect, test } from 'vitest';

test('the sample rules are right, say what the sample day needs, and warn of nothing that was not meant', async () => {
  const file = path.resolve(import.meta.dirname, '../../../infra/rules/sample.yaml');
  const draft = await loadRulesFile(file, { retentionMs: 86_400_000 });
  const limits = draft.rules.map(({ dimension, value, limit }) => [dimension, value, limit]);
  expect(limits).toEqual([
    ['creative', undefined, { max: 3, window: '60m' }],
    ['brand', undefined, { max: 5, window: '120m' }],
    ['brand', 'acme.example', { max: 2, window: '60m' }],
    ['industry', 'betting', { max: 1, window: '30m' }],
    ['brand', 'sponsor.example', 'OFF'],
    ['creative', 'promo-once', { max: 1, window: '24h' }],
  ]);
  expect(warnRuleSet(draft)).toMatchObject([
    { ruleId: 'sponsor-free', field: 'endsAt' },
    {
      ruleId: 'promo-once-daily',
      field: 'limit.window',
      message: expect.stringContaining('24 h instead of 2 h'),
    },
  ]);
});
