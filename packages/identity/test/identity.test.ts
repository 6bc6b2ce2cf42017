import { NO_VALUE } from '@adcap/contracts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  breakKeyOf,
  deviceTag,
  type ImpressionTraits,
  impressionIdentity,
  reservationFingerprint,
  valueKeyOf,
} from '../src/index.ts';

const text = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' });

const of = (traits: ImpressionTraits) => impressionIdentity(traits).fingerprint;

describe('stored formats', () => {
  // These values are in Redis and on the bus: a change here is a change of format.
  test('hashes are pinned', () => {
    expect(deviceTag('tv-1')).toMatchInlineSnapshot(`"sUoluUm3eWlxGJ2Q"`);
    expect(valueKeyOf('acme.example')).toMatchInlineSnapshot(`92799156862562`);
    expect(breakKeyOf('s-1', 'b-1')).toMatchInlineSnapshot(`"VuNDQ3R5tdM"`);
    expect(breakKeyOf(undefined, 'b-1')).toMatchInlineSnapshot(`"_ajMGwq9RbA"`);
    expect(reservationFingerprint('tv-1', 'r-1')).toMatchInlineSnapshot(`"qFgW4z7X7Ck"`);
  });
});

describe('valueKeyOf', () => {
  test('is a 48-bit number, the same from the cache, and never the one that means none', () => {
    fc.assert(
      fc.property(text, (value) => {
        const key = valueKeyOf(value);
        expect(key).toBe(valueKeyOf(value));
        expect(Number.isInteger(key) && key > NO_VALUE && key < 2 ** 48).toBe(true);
      }),
    );
  });
});

describe('deviceTag', () => {
  test('has 16 characters that no key syntax knows, whatever the device is called', () => {
    fc.assert(
      fc.property(text, (device) => {
        expect(deviceTag(device)).toMatch(/^[A-Za-z0-9_-]{16}$/);
      }),
    );
  });
});

describe('breakKeyOf', () => {
  test('has 11 characters and is 8 whole bytes', () => {
    const key = breakKeyOf('session', 'break');
    expect(key).toHaveLength(11);
    expect(Buffer.from(key, 'base64url').toString('base64url')).toBe(key);
  });

  test.for([
    ['ab', 'c', 'a', 'bc'],
    ['a"', 'b', 'a', '"b'],
    ['null', 'b', undefined, 'b'],
    ['', 'b', undefined, 'b'],
  ] as const)('tells (%s, %s) from (%s, %s)', ([session, breakId, otherSession, otherBreak]) => {
    expect(breakKeyOf(session, breakId)).not.toBe(breakKeyOf(otherSession, otherBreak));
  });
});

describe('impressionIdentity', () => {
  const all: ImpressionTraits = {
    deviceId: 'tv-1',
    creativeId: 'c-1',
    reservationId: 'r-1',
    impressionId: 'i-1',
    sessionId: 's-1',
    breakId: 'b-1',
    slot: 1,
    at: 1_764_550_000_000,
  };
  const withoutReservation = { ...all, reservationId: undefined };
  const withoutId = { ...withoutReservation, impressionId: undefined };
  const bare = { ...withoutId, sessionId: undefined, breakId: undefined, slot: undefined };

  test.for([
    ['reservation', all],
    ['impression', withoutReservation],
    ['break', withoutId],
    ['moment', bare],
  ] as const)('is made of the %s when that is the strongest thing known', ([identity, traits]) => {
    expect(impressionIdentity(traits).identity).toBe(identity);
    expect(of(traits)).toMatch(/^[A-Za-z0-9_-]{11}$/);
  });

  test('of a reservation is what the reservation was stored under, whatever else the beacon says', () => {
    const other = { ...all, creativeId: 'c-2', impressionId: undefined, slot: 4, at: 1 };
    expect(of(all)).toBe(reservationFingerprint('tv-1', 'r-1'));
    expect(of(other)).toBe(of(all));
  });

  test.for([
    ['device', { deviceId: 'tv-2' }, true],
    ['id', { impressionId: 'i-2' }, true],
    ['creative', { creativeId: 'c-2' }, true],
    ['slot', { slot: 2 }, true],
    ['time', { at: 5 }, false],
    ['break', { breakId: 'b-2' }, false],
    ['session', { sessionId: 's-2' }, false],
  ] as const)('with an id: another %s makes another impression? %s', ([, change, differs]) => {
    expect(of({ ...withoutReservation, ...change }) !== of(withoutReservation)).toBe(differs);
  });

  test.for([
    ['device', { deviceId: 'tv-2' }, true],
    ['session', { sessionId: 's-2' }, true],
    ['break', { breakId: 'b-2' }, true],
    ['creative', { creativeId: 'c-2' }, true],
    ['slot', { slot: 2 }, true],
    ['time', { at: 5 }, false],
  ] as const)('with a break: another %s makes another impression? %s', ([, change, differs]) => {
    expect(of({ ...withoutId, ...change }) !== of(withoutId)).toBe(differs);
  });

  test.for([
    ['device', { deviceId: 'tv-2' }, true],
    ['creative', { creativeId: 'c-2' }, true],
    ['time', { at: 5 }, true],
    ['slot', { slot: 3 }, false],
    ['session', { sessionId: 's-9' }, false],
  ] as const)('with nothing: another %s makes another impression? %s', ([, change, differs]) => {
    expect(of({ ...bare, ...change }) !== of(bare)).toBe(differs);
  });

  test('of one kind is never that of another, with the same texts in the same places', () => {
    const a = reservationFingerprint('tv-1', 'x');
    const b = of({ ...bare, creativeId: 'c', impressionId: 'x' });
    const c = of({ ...bare, creativeId: 'c', breakId: 'x' });
    expect(new Set([a, b, c]).size).toBe(3);
  });
});
