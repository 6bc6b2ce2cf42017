import { expect, test } from 'vitest';
import { judgeItem } from '../../src/domain/judge-item.ts';
import { judgePixel } from '../../src/domain/judge-pixel.ts';
import { RECEIVED_AT, reservationTokens, someClaims, someContext } from '../beacon-fixtures.ts';

test('judgePixel judges a query as the same item would be', () => {
  const pixel = judgePixel(
    {
      deviceId: 'd1',
      creativeId: 'c1',
      campaignId: 'k1',
      brandId: 'acme.example',
      industryIds: 'i1,i2',
      impressionId: 'x1',
      sessionId: 's1',
      breakId: 'br1',
      slot: '3',
      ageMs: '2000',
      durationMs: '15000',
      seller: 'ssp',
    },
    someContext(),
  );

  const item = {
    deviceId: 'd1',
    creativeId: 'c1',
    campaignId: 'k1',
    brandId: 'acme.example',
    industryIds: ['i1', 'i2'],
    impressionId: 'x1',
    sessionId: 's1',
    breakId: 'br1',
    slot: 3,
    ageMs: 2_000,
    durationMs: 15_000,
    seller: 'ssp',
  };
  expect(pixel).toStrictEqual(judgeItem(item, someContext()));
  expect(pixel).toMatchObject({ kind: 'event', event: { at: RECEIVED_AT - 2_000, slot: 3 } });
});

test.for(['t', 'reservationId'])('judgePixel takes %s alone for a whole impression', (name) => {
  const reservationId = reservationTokens.sign(someClaims());
  expect(judgePixel({ [name]: reservationId }, someContext())).toMatchObject({
    kind: 'event',
    event: {
      identity: 'reservation',
      deviceId: 'd1',
      creativeId: 'c1',
      campaignId: 'k1',
      brandId: 'b1',
      industryIds: ['i1', 'i2'],
      breakId: 'br1',
      slot: 2,
    },
  });
});

test('judgePixel rejects a token that does not verify where nothing else is said', () => {
  expect(judgePixel({ t: 'abc.def' }, someContext())).toMatchObject({ kind: 'rejected', reason: 'invalid' });
});

test('judgePixel believes playedAt as the difference to sentAt, in epoch ms or ISO 8601', () => {
  const view = { deviceId: 'd1', creativeId: 'c1' };
  const times = { sentAt: '2024-03-10T03:40:00-04:00', playedAt: '1710052200000' };
  expect(judgePixel({ ...view, ...times }, someContext())).toMatchObject({
    event: { at: RECEIVED_AT - 70 * 60_000 },
  });
});

test.for([
  ['sentAt', 'yesterday'],
  ['sentAt', '1700000000'],
  ['playedAt', '2024-03-10T01:30:00'],
  ['playedAt', '1700000000'],
  ['slot', 'first'],
  ['slot', '1.5'],
  ['slot', '1e3'],
  ['slot', '0x10'],
  ['ageMs', '+5'],
  ['ageMs', '10s'],
] as const)('B25 judgePixel rejects %s=%s and names it', ([name, value]) => {
  expect(judgePixel({ deviceId: 'd1', creativeId: 'c1', [name]: value }, someContext())).toStrictEqual({
    kind: 'rejected',
    reason: 'invalid',
    fields: [{ field: name, message: expect.any(String) }],
  });
});

test.for(['slot', 'ageMs', 'durationMs', 'playedAt', 'sentAt'])(
  'B33 judgePixel takes an unfilled %s for a missing one',
  (name) => {
    const view = { deviceId: 'd1', creativeId: 'c1' };
    const expected = judgePixel(view, someContext());
    expect(expected).toMatchObject({ kind: 'event' });
    for (const unfilled of ['[MACRO]', '-1', '%%MACRO%%']) {
      expect(judgePixel({ ...view, [name]: unfilled }, someContext())).toStrictEqual(expected);
    }
  },
);
