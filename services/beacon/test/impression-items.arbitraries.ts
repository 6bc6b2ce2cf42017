import fc from 'fast-check';

const unfilled = fc.constantFrom('', '[MACRO]', '%%MACRO%%', '-1', '0', 'null');
/** Few values, so that repeats are common. */
const id = fc.oneof({ weight: 8, arbitrary: fc.constantFrom('a', 'b', 'c') }, unfilled, fc.string());

const mostly = <Usual, Odd>(usual: fc.Arbitrary<Usual>, odd: fc.Arbitrary<Odd>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });

/** What well-meaning clients send, and a little worse. */
const clientItem = fc.record(
  {
    deviceId: id,
    creativeId: mostly(fc.constantFrom('c1', 'c2'), unfilled),
    campaignId: id,
    brandId: id,
    industryIds: fc.array(id, { maxLength: 3 }),
    impressionId: id,
    reservationId: fc.string(),
    breakId: id,
    slot: mostly(fc.integer({ min: 1, max: 3 }), fc.integer({ max: 0 })),
    ageMs: mostly(fc.integer({ min: -5, max: 90_000_000 }), fc.double()),
    playedAt: mostly(fc.integer({ min: 1.7e12, max: 1.8e12 }), fc.oneof(fc.integer(), fc.string())),
    event: fc.constantFrom('impression', 'impression', 'midpoint'),
  },
  { requiredKeys: ['deviceId', 'creativeId'] },
);

/** An element of `impressions`: anything that JSON can say. */
export const anyItem = fc.oneof({ weight: 5, arbitrary: clientItem }, fc.jsonValue());
