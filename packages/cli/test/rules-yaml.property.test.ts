import { epochMs, type Rule, type RuleSetDraft } from '@adcap/contracts';
import { diffRuleSets, parseRuleSet } from '@adcap/rule-engine';
import { aRuleSetOf } from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeRulesText } from '../src/rules-file.ts';
import { rulesYaml } from '../src/rules-yaml.ts';

const OPTIONS = { retentionMs: 86_400_000, nowMs: epochMs(1_764_500_000_000) };

/** What YAML readers like to take for something else, and what is awkward to quote. */
const awkward = fc.oneof(
  fc.constantFrom(
    'OFF',
    'on',
    'no',
    'null',
    '~',
    '12345678901234567890',
    '1e3',
    '0x1f',
    '60:30',
    '2026-01-01',
    '- a',
  ),
  fc.constantFrom(
    ': x',
    '# x',
    '&a',
    '*a',
    '!t',
    '|',
    '> x',
    '{}',
    ' x ',
    "it's",
    '"',
    '\\',
    'a\nb',
    'a\t',
    '\u0007',
    '—',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
);

const dressed = (rule: Rule, words: readonly string[], index: number): Rule => ({
  ...rule,
  id: `${words[0]}${index}`,
  ...(rule.value === undefined ? {} : { value: `${words[1]}${index}` }),
  ...(rule.when === undefined ? {} : { when: { [`${words[2]}x`]: [`${words[3]}`] } }),
  ...(words[4] === undefined ? {} : { note: words[4] }),
});

const aDraft: fc.Arbitrary<RuleSetDraft> = fc
  .tuple(aRuleSetOf, fc.array(awkward, { minLength: 5, maxLength: 5 }))
  .map(([{ dimensions, rules }, words]) => {
    const draft = { dimensions, rules: rules.map((rule, index) => dressed(rule, words, index)) };
    const parsed = parseRuleSet(draft, OPTIONS);
    return parsed.ok ? parsed.draft : { dimensions, rules: [] };
  });

test('what is exported validates, and applies back to the same set', () => {
  let withRules = 0;
  fc.assert(
    fc.property(aDraft, (draft) => {
      if (draft.rules.length > 0) withRules += 1;
      const { draft: read, errors } = judgeRulesText(rulesYaml(draft, 'rules.schema.json'), OPTIONS);
      expect(errors).toEqual([]);
      expect(read).toEqual(draft);
      expect(diffRuleSets(draft, read ?? { dimensions: {}, rules: [] })).toMatchObject({
        added: [],
        removed: [],
        changed: [],
        dimensions: [],
        isReordered: false,
      });
    }),
    { numRuns: 1_000 },
  );
  expect(withRules).toBeGreaterThan(500);
});
