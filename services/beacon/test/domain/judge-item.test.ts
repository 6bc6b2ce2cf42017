import { impressionEventSchema } from '@adcap/contracts';
import { reservationFingerprint } from '@adcap/identity';
import { expect, test } from 'vitest';
import { judgeItem } from '../../src/domain/judge-item.ts';
import { RECEIVED_AT, reservationTokens, someClaims, someContext } from '../beacon-fixtures.ts';

const eventOf = (raw: object, context = someContext()) => {
  const judgement = judgeItem(raw, context);
  if (judgement.kind !== 'event') throw new Error(`not an event: ${JSON.stringify(judgement)}`);
  return judgement.event;
};

const view = { deviceId: 'd1', creativeId: 'c1', impressionId: 'x1' };

test('judgeItem makes a final event of everything that a client says', () => {
  const event = eventOf({
    ...view,
    campaignId: 'k9',
    brandId: 'https://www.Acme.example/shoes',
    industryIds: ['i1', '[INDUSTRY]', 'i1'],
    sessionId: 's9',
    breakId: 'br9',
    slot: 3,
    ageMs: 2_000,
    durationMs: 15_000,
    seller: 'ssp',
    somethingElse: true,
  });

  expect(impressionEventSchema.parse(event)).toStrictEqual({
    type: 'NEW_IMPRESSION',
    v: 1,
    fingerprint: expect.stringMatching(/^[\w-]{11}$/),
    identity: 'impression',
    ...view,
    campaignId: 'k9',
    brandId: 'acme.example',
    industryIds: ['i1'],
    at: RECEIVED_AT - 2_000,
    receivedAt: RECEIVED_AT,
    sessionId: 's9',
    breakId: 'br9',
    slot: 3,
    durationMs: 15_000,
    seller: 'ssp',
    marks: undefined,
  });
});

test.for(['https://Acme.example/', 'acme.example', 'www.acme.example', 'ACME.EXAMPLE.'])(
  'B20 judgeItem publishes the brand %s as acme.example',
  (brandId) => {
    expect(eventOf({ ...view, brandId }).brandId).toBe('acme.example');
  },
);

test.for(['api.acme.example', 'acme-example'])('B20 judgeItem leaves the brand %s as it is', (brandId) => {
  expect(eventOf({ ...view, brandId }).brandId).toBe(brandId);
});

test.for([
  '[IFA]',
  '%5BIFA%5D',
  '%255BIFA%255D',
  '%%IFA%%',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an unfilled macro
  '${IFA}',
  '{{ifa}}',
  '-1',
  '-2',
  '0',
  '',
  'null',
  'undefined',
  '[object Object]',
  '00000000-0000-0000-0000-000000000000',
  -1,
  0,
  null,
  undefined,
])('B33 judgeItem ignores the device %j', (deviceId) => {
  expect(judgeItem({ ...view, deviceId }, someContext())).toStrictEqual({
    kind: 'ignored',
    reason: 'unidentified',
  });
});

test('judgeItem ignores other events, whatever else they lack', () => {
  const ignored = { kind: 'ignored', reason: 'other_event' };
  expect(judgeItem({ ...view, event: 'firstQuartile' }, someContext())).toStrictEqual(ignored);
  expect(judgeItem({ event: 'ping' }, someContext())).toStrictEqual(ignored);
  expect(eventOf({ ...view, event: 'impression' })).toMatchObject(view);
});

test.for([
  ['no creative', { deviceId: 'd1' }, /^creativeId: /],
  ['B33 an unfilled creative', { ...view, creativeId: '[CREATIVEID]' }, /^creativeId: .*unfilled/],
  ['a creative of another type', { ...view, creativeId: 7 }, /^creativeId: /],
  ['a device of another type', { ...view, deviceId: {} }, /^deviceId: .*string/],
  ['a device of 257 characters', { ...view, deviceId: 'd'.repeat(257) }, /^deviceId: .*256/],
  ['a control character in an id', { ...view, impressionId: 'a\nb' }, /^impressionId: /],
  ['half of a character in an id', { ...view, sessionId: '\ud800' }, /^sessionId: /],
  ['a slot that counts from 0', { ...view, slot: 0 }, /^slot: /],
  ['an age in words', { ...view, ageMs: '10s' }, /^ageMs: /],
  ['B25 epoch seconds', { ...view, playedAt: 1_700_000_000 }, /^playedAt: must be epoch milliseconds/],
  ['B25 a time without a zone', { ...view, playedAt: '2024-03-10T01:30:00' }, /^playedAt: must be/],
  ['B25 a word', { ...view, playedAt: 'yesterday' }, /^playedAt: must be/],
  ['too many industries', { ...view, industryIds: Array.from({ length: 17 }, String) }, /^industryIds: /],
  ['a text', 'impression', /^: expected object/],
  ['nothing', null, /^: expected object/],
  ['a list', [view], /^: expected object/],
] as const)('judgeItem rejects %s and names the field', ([, raw, message]) => {
  const judgement = judgeItem(raw, someContext());
  expect(judgement).toMatchObject({ kind: 'rejected', reason: 'invalid' });
  const fields = judgement.kind === 'rejected' ? judgement.fields : [];
  expect(fields.map((wrong) => `${wrong.field}: ${wrong.message}`)).toStrictEqual([
    expect.stringMatching(message),
  ]);
});

test('B07 judgeItem rejects an age of 25 hours as too old', () => {
  const ageMs = 25 * 3_600_000;
  expect(judgeItem({ ...view, ageMs }, someContext())).toStrictEqual({
    kind: 'rejected',
    reason: 'too_old',
    fields: [{ field: 'ageMs', message: expect.stringContaining('86400000') }],
  });
});

test('judgeItem fills in from a reservation what the view does not say, and is identified by it', () => {
  const reservationId = reservationTokens.sign(someClaims());
  const event = eventOf({
    deviceId: 'd1',
    creativeId: 'c1',
    campaignId: 'k7',
    impressionId: 'x',
    reservationId,
  });

  expect(event).toMatchObject({
    fingerprint: reservationFingerprint('d1', reservationId),
    identity: 'reservation',
    campaignId: 'k7',
    brandId: 'b1',
    industryIds: ['i1', 'i2'],
    sessionId: 's1',
    breakId: 'br1',
    slot: 2,
    durationMs: 30_000,
    seller: 'house',
    at: RECEIVED_AT,
  });
  expect(event.marks).toBeUndefined();
});

test('judgeItem identifies the device of a reservation where the macro for it was left unfilled', () => {
  const reservationId = reservationTokens.sign(someClaims());
  expect(eventOf({ deviceId: '[IFA]', creativeId: 'c1', reservationId }).deviceId).toBe('d1');
});

test.for([
  ['is no token', 'abc.def', 'reservation_unverified'],
  [
    'has a changed signature',
    `${reservationTokens.sign(someClaims()).slice(0, -1)}!`,
    'reservation_unverified',
  ],
  [
    'is of another device',
    reservationTokens.sign(someClaims({ deviceId: 'd2' })),
    'reservation_other_device',
  ],
  [
    'is of another ad',
    reservationTokens.sign(someClaims({ creativeId: 'c2' })),
    'reservation_other_creative',
  ],
] as const)('judgeItem counts without a reservation id that %s, and marks it', ([, reservationId, mark]) => {
  const event = eventOf({ ...view, reservationId });

  expect(event.marks).toStrictEqual([mark]);
  const { marks: _, ...rest } = event;
  const { marks: __, ...without } = eventOf(view);
  expect(rest).toStrictEqual(without);
});

test('judgeItem takes an unfilled reservation id for none, without a mark', () => {
  expect(eventOf({ ...view, reservationId: '[RESERVATION]' })).toStrictEqual(eventOf(view));
});

const pod = [1, 2, 3, 4];

test('B35 judgeItem tells the ads of a pod apart by break and slot where they have no id', () => {
  const inSlot = (slot: number, breakId: string | undefined) =>
    eventOf({ deviceId: 'd1', creativeId: 'c1', sessionId: 's1', breakId, slot });

  expect(new Set(pod.map((slot) => inSlot(slot, 'br1').fingerprint)).size).toBe(4);
  expect(inSlot(1, 'br1')).toMatchObject({ identity: 'break' });
  expect(inSlot(1, '[BREAKID]')).toMatchObject({ identity: 'moment' });
});

test('B33 judgeItem takes an unfilled impression id for none', () => {
  const unfilled = eventOf({ ...view, impressionId: '[CACHEBUSTING]', breakId: 'br1', slot: 1 });
  expect(unfilled).toMatchObject({ identity: 'break' });
  expect(unfilled.impressionId).toBeUndefined();
});
