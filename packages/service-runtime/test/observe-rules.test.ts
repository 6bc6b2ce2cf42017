import { expect, test } from 'vitest';
import { createHealth, createMetricsRegistry, type FollowedRules, observeRules } from '../src/index.ts';

const observed = async (rules: Partial<FollowedRules>) => {
  const registry = createMetricsRegistry();
  const health = createHealth();
  const followed: FollowedRules = {
    version: () => 5,
    source: () => 'bus',
    isLive: () => true,
    refused: () => undefined,
    refusals: () => ({ newer_schema: 0, wrong_rules: 2 }),
    ...rules,
  };
  observeRules({ registry, health }, followed, 'no rules yet: answers are open');
  const { body } = await health.readyz();
  return { check: body.checks['rules'], metrics: await registry.metrics() };
};

test.for<[string, Partial<FollowedRules>, { ok: boolean; detail: string }]>([
  ['rules in force', {}, { ok: true, detail: 'version 5 from bus' }],
  [
    'no rules',
    { version: () => null, source: () => undefined },
    { ok: false, detail: 'no rules yet: answers are open' },
  ],
  [
    'rules that are not followed live',
    { isLive: () => false, source: () => 'redis' },
    { ok: false, detail: 'version 5 from redis; not followed live' },
  ],
  [
    'a refused version',
    { refused: () => ({ reason: 'newer_schema', detail: 'upgrade', version: 7 }) },
    { ok: false, detail: 'version 5 from bus; version 7 was refused: newer_schema, upgrade' },
  ],
  [
    'something refused that has no version',
    { refused: () => ({ reason: 'not_json', detail: 'it is not JSON' }) },
    { ok: false, detail: 'version 5 from bus; a set was refused: not_json, it is not JSON' },
  ],
])('the check tells of %s', async ([, rules, check]) => {
  expect((await observed(rules)).check).toEqual(check);
});

test('the metrics tell the version, and what was refused by reason', async () => {
  const { metrics } = await observed({});
  expect(metrics).toContain('adcap_rules_version 5');
  expect(metrics).toContain('adcap_rules_refused_total{reason="newer_schema"} 0');
  expect(metrics).toContain('adcap_rules_refused_total{reason="wrong_rules"} 2');
  expect((await observed({ version: () => null })).metrics).toContain('adcap_rules_version Nan');
});
