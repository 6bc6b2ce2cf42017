import { instantSchema, queryInstantSchema } from '@adcap/contracts';
import { describe, expect, test } from 'vitest';

const at = Date.UTC(2024, 2, 10, 7, 40);

describe('B25, law 5: instants on the wire', () => {
  test.for<[unknown, number]>([
    [at, at],
    [at + 0.7, at],
    ['2024-03-10T03:40:00-04:00', at],
    ['2024-03-10T07:40:00Z', at],
    ['2024-03-10T07:40:00+00:00', at],
    ['2024-03-10T07:40:00.000+0000', at],
    ['2024-03-10T07:40Z', at],
  ])('%j is read', ([value, expected]) => {
    expect(instantSchema.parse(value)).toBe(expected);
  });

  test.for([
    Math.floor(at / 1000),
    String(at),
    '2024-03-10T07:40:00',
    '2024-03-10',
    '2024-02-30T00:00:00Z',
    'yesterday',
    '',
    true,
    null,
    {},
    Number.NaN,
    at * 1_000,
  ])('%j is refused and never read as 1970', (value) => {
    const parsed = instantSchema.safeParse(value);
    expect(parsed.error?.issues[0]?.message).toContain('epoch milliseconds');
  });

  test('in a query epoch milliseconds are digits, and seconds are still refused', () => {
    expect(queryInstantSchema.parse(String(at))).toBe(at);
    expect(queryInstantSchema.parse('2024-03-10T03:40:00-04:00')).toBe(at);
    for (const wrong of [String(at / 1000), '1e12', '-1', 'now']) {
      expect(queryInstantSchema.safeParse(wrong).success).toBe(false);
    }
  });
});
