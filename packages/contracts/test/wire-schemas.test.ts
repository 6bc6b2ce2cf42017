import {
  AppError,
  candidateSchema,
  ERROR_CODES,
  impressionItemSchema,
  LIMITS,
  parseWindowMs,
  selectionRequestSchema,
  TOPICS,
  topicName,
} from '@adcap/contracts';
import { describe, expect, test } from 'vitest';

const fieldOf = (parsed: { error?: { issues: readonly { path: readonly PropertyKey[] }[] } | undefined }) =>
  parsed.error?.issues.map(({ path }) => path.join('.'));

describe('an impression on the wire', () => {
  test.for([undefined, null, '', '[IFA]', -1, 0, 'null'])(
    'the device %j is unidentified, not wrong',
    (deviceId) => {
      expect(impressionItemSchema.parse({ deviceId, creativeId: 'c1' }).deviceId).toBeUndefined();
    },
  );

  test.for([5, {}, 'a\u0000b', 'x'.repeat(257), '\ud800'])('the device %j is wrong', (deviceId) => {
    expect(fieldOf(impressionItemSchema.safeParse({ deviceId, creativeId: 'c1' }))).toEqual(['deviceId']);
  });

  test.for([undefined, '', '[CREATIVEID]', 7])('the creative %j is refused', (creativeId) => {
    expect(fieldOf(impressionItemSchema.safeParse({ deviceId: 'd1', creativeId }))).toEqual(['creativeId']);
  });

  test('unfilled dimensions are missing ones, never a shared ""', () => {
    const item = {
      deviceId: 'd',
      creativeId: 'c',
      campaignId: '',
      brandId: '%%BRAND%%',
      industryIds: ['', 'i', 'i'],
    };
    const parsed = impressionItemSchema.parse(item);
    expect(parsed).toMatchObject({ campaignId: undefined, brandId: undefined, industryIds: ['i'] });
  });
});

describe('a selection on the wire', () => {
  const envelope = { deviceId: 'd', breakId: 'b', breakAt: 1_764_500_000_000, candidates: [] };

  test('slots are a number or a list, and missing means only quotas', () => {
    expect(selectionRequestSchema.parse(envelope).slots).toEqual([]);
    expect(selectionRequestSchema.parse({ ...envelope, slots: 2 }).slots).toHaveLength(2);
    expect(selectionRequestSchema.parse({ ...envelope, slots: [{ maxMs: 15_000 }] }).slots).toEqual([
      { maxMs: 15_000 },
    ]);
  });

  test.for([
    { breakAt: 1_764_500_000 },
    { breakId: '[BREAKID]' },
    { slots: LIMITS.slots + 1 },
    { slots: 1.5 },
    { candidates: Array.from({ length: LIMITS.candidates + 1 }, () => ({})) },
    { deadlineMs: 0 },
    { context: { market: 7 } },
  ])('%j is refused by its field', (wrong) => {
    const [field] = Object.keys(wrong);
    expect(fieldOf(selectionRequestSchema.safeParse({ ...envelope, ...wrong }))?.[0]).toMatch(
      new RegExp(`^${field}`),
    );
  });

  test('a candidate’s brand is normalised', () => {
    expect(candidateSchema.parse({ creativeId: 'c', brandId: 'https://ACME.example/' }).brandId).toBe(
      'acme.example',
    );
  });
});

describe('names and codes are data formats', () => {
  test('topics', () => {
    expect(TOPICS).toMatchInlineSnapshot(`
      {
        "audit": "adcap.audit.v1",
        "deadImpressions": "adcap.impressions.dlq.v1",
        "decisions": "adcap.decisions.v1",
        "impressions": "adcap.impressions.v1",
        "rejectedImpressions": "adcap.impressions.rejected.v1",
        "rules": "adcap.rules.v1",
      }
    `);
    expect(topicName('rules', 'eu.')).toBe('eu.adcap.rules.v1');
  });

  test('every error code carries its status and whether a retry helps', () => {
    for (const code of Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[]) {
      const error = new AppError(code, 'why');
      expect([error.code, error.name, error.status, error.retryable]).toEqual([
        code,
        'AppError',
        ERROR_CODES[code].status,
        [429, 503].includes(ERROR_CODES[code].status),
      ]);
      expect(code).toMatch(/^ADCAP(_[A-Z]+)+$/);
    }
  });

  test.for<[string, number | undefined]>([
    ['90s', 90_000],
    ['60m', 3_600_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['pod', undefined],
    ['0s', undefined],
    ['1.5h', undefined],
    ['60', undefined],
  ])('the window %s is %s ms', ([window, ms]) => {
    expect(parseWindowMs(window)).toBe(ms);
  });
});
