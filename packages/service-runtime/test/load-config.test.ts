import { expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigError, describeConfig, loadConfig } from '../src/index.ts';

const schema = z.object({
  ADCAP_BEACON_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65_535)
    .default(8_081)
    .describe('Port of the beacon API'),
  ADCAP_BEACON_TRUST: z.stringbool().default(false).describe('Whether producers are believed'),
  ADCAP_MODE: z.enum(['quotas', 'history']).optional().describe('Where decisions read'),
  ADCAP_HOSTS: z
    .string()
    .default('a,b')
    .transform((text) => text.split(','))
    .describe('Hosts, by commas'),
  ADCAP_RETENTION_MS: z.coerce
    .number()
    .int()
    .min(1_000)
    .default(86_400_000)
    .describe('How long views are kept'),
  REDIS_URL: z.url().describe('Where Redis is'),
});
const env = { REDIS_URL: 'redis://127.0.0.1:6379' };

const problemsOf = (variables: Record<string, string>, allowed: string[] = []) => {
  try {
    loadConfig(schema, variables, { allowed });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

test('loadConfig reads, converts and fills in', () => {
  const config = loadConfig(schema, {
    ...env,
    ADCAP_BEACON_PORT: ' 9000 ',
    ADCAP_BEACON_TRUST: 'yes',
    PATH: '/bin',
  });
  expect(config).toEqual({
    ADCAP_BEACON_PORT: 9_000,
    ADCAP_BEACON_TRUST: true,
    ADCAP_HOSTS: ['a', 'b'],
    ADCAP_RETENTION_MS: 86_400_000,
    REDIS_URL: 'redis://127.0.0.1:6379',
  });
  config.ADCAP_HOSTS satisfies string[];
});

test('an empty variable is an unset one, not a zero', () => {
  expect(loadConfig(schema, { ...env, ADCAP_BEACON_PORT: '', ADCAP_MODE: '  ' })).toMatchObject({
    ADCAP_BEACON_PORT: 8_081,
  });
  expect(problemsOf({ REDIS_URL: '' })).toEqual([{ name: 'REDIS_URL', message: 'is required and not set' }]);
});

test('every problem is reported at once, each by its variable', () => {
  const problems = problemsOf({ ADCAP_BEACON_PORT: 'many', ADCAP_MODE: 'both', ADCAP_BEACN_PORT: '1' });
  expect(problems).toEqual([
    { name: 'ADCAP_BEACN_PORT', message: 'is not a setting of this suite; did you mean ADCAP_BEACON_PORT?' },
    { name: 'ADCAP_BEACON_PORT', message: 'expected number, received NaN' },
    { name: 'ADCAP_MODE', message: 'Invalid option: expected one of "quotas"|"history"' },
    { name: 'REDIS_URL', message: 'is required and not set' },
  ]);
});

test('an unknown variable is refused even when empty, without a guess when nothing is near', () => {
  expect(problemsOf({ ...env, ADCAP_SOMETHING_ELSE: '' })).toEqual([
    { name: 'ADCAP_SOMETHING_ELSE', message: 'is not a setting of this suite' },
  ]);
});

test('variables that the suite knows are allowed, and guessed at', () => {
  const allowed = ['ADCAP_RULES_PORT'];
  expect(problemsOf({ ...env, ADCAP_RULES_PORT: '8083' }, allowed)).toEqual([]);
  expect(problemsOf({ ...env, ADCAP_RULE_PORT: '8083' }, allowed)[0]?.message).toContain('ADCAP_RULES_PORT');
});

test('a message never holds the value', () => {
  const [problem] = problemsOf({ REDIS_URL: 'hunter2' });
  expect(problem?.name).toBe('REDIS_URL');
  expect(problem?.message).not.toContain('hunter2');
});

test('a rule across settings is reported under its variable', () => {
  const crossed = z
    .object({ ADCAP_A: z.coerce.number(), ADCAP_B: z.coerce.number() })
    .refine(({ ADCAP_A, ADCAP_B }) => ADCAP_A < ADCAP_B, {
      path: ['ADCAP_A'],
      message: 'must be below ADCAP_B',
    });
  expect(() => loadConfig(crossed, { ADCAP_A: '2', ADCAP_B: '1' })).toThrow('ADCAP_A: must be below ADCAP_B');
});

test('describeConfig gives the rows of the docs', () => {
  const rows = describeConfig(schema).map(({ name, type, required, default: written, description }) => [
    name,
    type,
    required,
    written,
    description,
  ]);
  expect(rows).toEqual([
    ['ADCAP_BEACON_PORT', 'integer 1..65535', false, '8081', 'Port of the beacon API'],
    ['ADCAP_BEACON_TRUST', 'boolean', false, 'false', 'Whether producers are believed'],
    ['ADCAP_MODE', 'quotas | history', false, undefined, 'Where decisions read'],
    ['ADCAP_HOSTS', 'string', false, 'a,b', 'Hosts, by commas'],
    ['ADCAP_RETENTION_MS', 'integer 1000..', false, '86400000', 'How long views are kept'],
    ['REDIS_URL', 'uri', true, undefined, 'Where Redis is'],
  ]);
});

test('describeConfig refuses a setting without a description', () => {
  expect(() => describeConfig(z.object({ ADCAP_X: z.string() }))).toThrow('ADCAP_X has no description');
});

test('describeConfig refuses a boolean that reads "false" as true', () => {
  const trap = z.object({ ADCAP_X: z.coerce.boolean().describe('A trap') });
  expect(() => describeConfig(trap)).toThrow('z.stringbool()');
});
