import { LIMITS } from '@adcap/contracts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReservationTokens, type ReservationClaims } from '../src/index.ts';

const id = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' });
const missing = { nil: undefined };
const definedOnly = (claims: ReservationClaims): ReservationClaims =>
  JSON.parse(JSON.stringify(claims)) as ReservationClaims;

const claimsArbitrary = fc
  .record({
    deviceId: id,
    sessionId: fc.option(id, missing),
    breakId: id,
    slot: fc.integer({ min: 1, max: 20 }),
    creativeId: id,
    campaignId: fc.option(id, missing),
    brandId: fc.option(id, missing),
    industryIds: fc.array(id, { maxLength: 5 }),
    durationMs: fc.option(fc.integer({ min: 0, max: 90_000 }), missing),
    seller: fc.option(id, missing),
    grantedAt: fc.integer({ min: 1e12, max: 2e12 }),
  })
  .map(definedOnly);

const plain: ReservationClaims = {
  deviceId: 'tv-1',
  breakId: 'b-1',
  slot: 1,
  creativeId: 'c-1',
  industryIds: ['auto'],
  grantedAt: 1_764_550_000_000,
};

const today = { id: 'k2', secret: 'a secret of today, long enough' };
const yesterday = { id: 'k1', secret: 'a secret of yesterday, long enough' };
const tokens = createReservationTokens([today, yesterday]);

describe('reservation tokens', () => {
  test('say what was signed', () => {
    fc.assert(
      fc.property(claimsArbitrary, (claims) => {
        const token = tokens.sign(claims);
        expect(token).toMatch(/^[A-Za-z0-9_.-]+$/);
        expect(tokens.verify(token)).toEqual(claims);
      }),
    );
  });

  test('with any one character changed, added or left out are refused', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \u0000é';
    fc.assert(
      fc.property(
        claimsArbitrary,
        fc.nat(),
        fc.constantFrom(...alphabet.split('')),
        fc.constantFrom('change', 'add', 'drop'),
        (...[claims, seed, character, how]) => {
          const token = tokens.sign(claims);
          const at = seed % token.length;
          const after = token.slice(how === 'add' ? at : at + 1);
          const changed = token.slice(0, at) + (how === 'drop' ? '' : character) + after;
          fc.pre(changed !== token);
          expect(tokens.verify(changed)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  test('have one spelling: the unused bits at the end of the signature are part of it', () => {
    const token = tokens.sign(plain);
    const last = token.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const others = alphabet.split('').filter((character) => character !== last);
    for (const other of others) expect(tokens.verify(token.slice(0, -1) + other)).toBeUndefined();
  });

  test('of an older key still verify, those of a key that was dropped do not', () => {
    const old = createReservationTokens([yesterday]).sign(plain);
    expect(tokens.verify(old)).toEqual(plain);
    expect(createReservationTokens([today]).verify(old)).toBeUndefined();
  });

  test('of a key with a known id and another secret are refused', () => {
    const foreign = createReservationTokens([{ id: 'k2', secret: 'a secret of somebody else' }]).sign(plain);
    expect(tokens.verify(foreign)).toBeUndefined();
  });

  test('are two for two grants of one place', () => {
    expect(tokens.sign(plain)).not.toBe(tokens.sign({ ...plain, grantedAt: plain.grantedAt + 1 }));
  });

  test.for(['', '.', 'a.b', 'x'.repeat(50_000), `${'x'.repeat(30)}.`, '[].AAAAAAAAAAAAAAAAAAAAAA'])(
    'that are nonsense are refused: %.20s',
    (token) => {
      expect(tokens.verify(token)).toBeUndefined();
    },
  );

  test.for(['{}', 'null', '"k2"', '[]', '["k2"]', '[["k2"]]', '["__proto__"]', '[1', '\ud800'])(
    'with a made-up payload are refused: %s',
    (payload) => {
      const token = `${Buffer.from(payload).toString('base64url')}.AAAAAAAAAAAAAAAAAAAAAA`;
      expect(tokens.verify(token)).toBeUndefined();
    },
  );

  test('arbitrary text never makes it throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (token) => {
        expect(tokens.verify(token)).toBeUndefined();
      }),
    );
  });

  test('stay within the length that the beacon takes, by leaving out what the view can say itself', () => {
    const long = 'x'.repeat(256);
    const token = tokens.sign({
      ...plain,
      deviceId: long,
      sessionId: long,
      breakId: long,
      creativeId: long,
      campaignId: long,
      brandId: long,
      seller: long,
      industryIds: Array.from({ length: 16 }, (_, index) => `${index}`.padEnd(256, 'x')),
    });
    expect(token.length).toBeLessThanOrEqual(LIMITS.tokenLength);
    expect(tokens.verify(token)).toMatchObject({ deviceId: long, brandId: long, industryIds: [] });
  });

  test.for([
    ['no key', []],
    [
      'two keys of one id',
      [
        { id: 'k', secret: 'x'.repeat(20) },
        { id: 'k', secret: 'y'.repeat(20) },
      ],
    ],
    ['a short secret', [{ id: 'k', secret: 'short' }]],
  ] as const)('cannot be made with %s', ([, keys]) => {
    expect(() => createReservationTokens(keys)).toThrow(/key/);
  });
});
