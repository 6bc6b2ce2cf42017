import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { RuleSet } from '@adcap/contracts';
import { aRuleSetOf } from '@adcap/testkit/oracle';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { rulesSchema } from '../src/generated/rules-schema.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const validate = new Ajv({
  strict: true,
  allErrors: true,
  strictTypes: false,
  strictRequired: false,
}).compile(JSON.parse(rulesSchema()));

const cap = { id: 'a', dimension: 'creative', limit: { max: 1, window: '60m' } };
const of = (more: object) => ({ rules: [{ ...cap, ...more }] });

/** Where a set is wrong, as an editor would underline it. */
const wrongIn = (set: unknown): string[] => {
  validate(set);
  return (validate.errors ?? []).map(({ instancePath }) => instancePath);
};

describe('the JSON Schema of a rule set', () => {
  test('the sample names it, and is taken', async () => {
    const file = path.join(ROOT, 'infra/rules/sample.yaml');
    const text = await readFile(file, 'utf8');
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text) ?? [];
    expect(path.resolve(path.dirname(file), schema)).toBe(path.join(ROOT, 'docs/rules.schema.json'));
    expect(wrongIn(parse(text))).toEqual([]);
  });

  test('whatever the laws take, it takes', () => {
    fc.assert(
      fc.property(aRuleSetOf, ({ dimensions, rules }: RuleSet) => {
        expect(wrongIn({ dimensions, rules })).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test.for<[string, unknown, string]>([
    ['no rules', {}, ''],
    ['an unknown field of the set', { rules: [], rule: [] }, ''],
    ['an unknown field of a rule', of({ valeu: 'c1' }), '/rules/0'],
    ['no dimension', { rules: [{ id: 'a', limit: cap.limit }] }, '/rules/0'],
    ['a dimension that there is not', of({ dimension: 'brands' }), '/rules/0/dimension'],
    ['an id that is a number', of({ id: 12 }), '/rules/0/id'],
    ['a max of 0', of({ limit: { max: 0, window: '60m' } }), '/rules/0/limit/max'],
    ['a max of 1.5', of({ limit: { max: 1.5, window: '60m' } }), '/rules/0/limit/max'],
    ['a window without a unit', of({ limit: { max: 1, window: '60' } }), '/rules/0/limit/window'],
    ['a window of minutes spelled out', of({ limit: { max: 1, window: '60min' } }), '/rules/0/limit/window'],
    ['a limit of another word', of({ value: 'c1', limit: 'ON' }), '/rules/0/limit'],
    ['OFF without a value', of({ limit: 'OFF' }), '/rules/0'],
    ['BLOCK without a value', of({ limit: 'BLOCK' }), '/rules/0'],
    ['final without a value', of({ final: true }), '/rules/0'],
    ['an empty when', of({ when: { market: [] } }), '/rules/0/when/market'],
    ['a when that is no list', of({ when: { market: 'dk' } }), '/rules/0/when/market'],
    ['another mode', of({ mode: 'dry' }), '/rules/0/mode'],
    ['a switch that is neither on nor off', { dimensions: { brand: false }, rules: [] }, '/dimensions/brand'],
  ])('%s is underlined', ([, set, where]) => {
    expect(wrongIn(set)).toContain(where);
  });
});
