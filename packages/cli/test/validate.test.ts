import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/program.ts';
import { aCall } from './a-call.ts';

const NOON = 1_764_590_400_000;

const validate = async (text: string, ...options: string[]) => {
  await using call = await aCall({ 'rules.yaml': text }, { nowMs: NOON });
  const code = await runCli(['rules', 'validate', 'rules.yaml', ...options], call.env);
  return { code, out: call.out, err: call.err };
};

const CAP = '{ id: a, dimension: creative, limit: { max: 3, window: 60m } }';

describe('adcap rules validate', () => {
  test('takes a set without needing a service', async () => {
    expect(await validate(`rules:\n  - ${CAP}\n`)).toEqual({
      code: 0,
      out: [],
      err: ['rules.yaml: 1 rule, 0 warnings'],
    });
  });

  test('names file, line, rule and field of everything that is wrong', async () => {
    const text = `# a comment
dimensions:
  brand: maybe
rules:
  - id: first
    dimension: creative
    limit:
      window: 60m
      max: 0
  - id: second
    dimension: brand
    valeu: acme.example
    limit: { max: 1, window: 2d }
  - dimension: brand
    value: x
    limit: OFF
  - id: second
    dimension: campaign
    limit: BLOCK

rule: []
`;
    const { code, out, err } = await validate(text);
    expect(out.map((line) => /^(.*?:\d+: [^:]+):/.exec(line)?.[1])).toEqual([
      'rules.yaml:3: (rule set), dimensions.brand',
      'rules.yaml:9: rule first, limit.max',
      'rules.yaml:12: rule second, valeu',
      'rules.yaml:14: rule rules.2, id',
      'rules.yaml:19: rule second, limit',
      'rules.yaml:21: (rule set), rule',
    ]);
    expect([code, err]).toEqual([1, ['rules.yaml: 6 errors']]);
  });

  test.for([
    ['a bad indentation', 'rules:\n  - id: a\n dimension: creative\n', 'rules.yaml:3: is not valid YAML: '],
    ['a key that is there twice', 'rules: []\nrules: []\n', 'rules.yaml:2: is not valid YAML: '],
    ['two documents', 'rules: []\n---\nrules: []\n', 'rules.yaml:2: is not valid YAML: '],
    ['an alias of nothing', 'rules:\n  - *nothing\n', 'rules.yaml:1: is not valid YAML: '],
    ['an empty file', '', 'rules.yaml:1: (rule set): must be'],
    ['a list', '- a\n', 'rules.yaml:1: (rule set): must be'],
    ['no rules', 'dimensions: {}\n', 'rules.yaml:1: (rule set), rules: must be a list'],
    [
      'a long number as an id',
      `rules:\n  - { ${CAP.slice(2).replace('id: a', 'id: 123456789012345')}\n`,
      'rules.yaml:2: rule rules.0, id: must be a string: quote it',
    ],
    [
      'a duplicate id, at the later rule',
      `rules:\n  - ${CAP}\n  - ${CAP.replace('60m', '90m')}\n`,
      'rules.yaml:3: rule a, id: is used by another rule',
    ],
  ] as const)('%s', async ([, text, line]) => {
    const { code, out } = await validate(text);
    expect(out).toContainEqual(expect.stringContaining(line));
    expect(code).toBe(1);
  });

  test('shows warnings with their lines, and takes them for errors only when told so', async () => {
    const text = `rules:
  - ${CAP}
  - id: sponsor
    dimension: brand
    value: sponsor.example
    limit: "OFF"
  - id: over
    dimension: creative
    value: old
    limit: { max: 1, window: 60m }
    endsAt: 2025-12-01T11:59:59Z
`;
    const warnings = [
      'rules.yaml:3: warning: rule sponsor, endsAt: OFF has no end',
      'rules.yaml:11: warning: rule over, endsAt: its time is over: it never applies again',
    ];
    expect(await validate(text)).toMatchObject({ code: 0, out: warnings });
    expect(await validate(text, '--strict')).toMatchObject({ code: 1, out: warnings });
  });

  test('holds windows against the retention that is told', async () => {
    const text = `rules:\n  - ${CAP.replace('60m', '48h')}\n`;
    expect(await validate(text)).toMatchObject({ code: 1, out: [expect.stringContaining('24 h that')] });
    expect(await validate(text, '--retention', '7d')).toMatchObject({ code: 0 });
  });

  test('answers wrong calls with 2, and help with 0', async () => {
    await using call = await aCall({});
    const run = (...args: string[]) => runCli(args, call.env);
    expect(await run('rules', 'validate', 'not-there.yaml')).toBe(2);
    expect(await run('rules', 'validate', 'x.yaml', '--retention', 'long')).toBe(2);
    expect(await run('rules', 'validate')).toBe(2);
    expect(await run('rules', 'explode', 'x.yaml')).toBe(2);
    expect(await run('rules', 'apply', 'x.yaml')).toBe(2);
    expect(call.err.join('\n')).toContain("required option '--note <text>' not specified");
    expect(await run('rules', 'apply', '--help')).toBe(0);
    expect(call.out.join('\n')).toContain('--token-file');
  });

  test('the sample rules of the repository are taken', async () => {
    await using call = await aCall({});
    const sample = path.resolve(import.meta.dirname, '../../../infra/rules/sample.yaml');
    expect(await runCli(['rules', 'validate', sample], call.env)).toBe(0);
  });
});
