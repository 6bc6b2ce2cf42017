import { valueKeyOf } from '@adcap/identity';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeHistoryRecord, encodeHistoryRecord, viewOfHistoryRecord } from '../src/history-record.ts';
import { StoredFormatError } from '../src/index.ts';
import { decodeReservations, encodeReservation, placeBytes } from '../src/reservation-member.ts';
import {
  decodeViews,
  decodeWindowMember,
  encodeWindowMember,
  viewOfImpression,
} from '../src/window-member.ts';
import { anyEvent, anyReservation, anyWindowMember } from './impression.arbitraries.ts';

describe('window members', () => {
  test('come back as they went in, one by one and as one blob', () => {
    fc.assert(
      fc.property(fc.array(anyWindowMember, { maxLength: 20 }), (members) => {
        const encoded = members.map(encodeWindowMember);
        expect(encoded.map(decodeWindowMember)).toEqual(members);
        const views = decodeViews(Buffer.concat(encoded));
        expect(views).toHaveLength(members.length);
        expect(members).toMatchObject(views);
      }),
    );
  });

  test('are 33 bytes and 6 for each industry: within what Redis keeps compact', () => {
    fc.assert(
      fc.property(anyWindowMember, (member) => {
        expect(encodeWindowMember(member)).toHaveLength(33 + 6 * member.industries.length);
      }),
    );
  });

  test('of another version are refused, not misread', () => {
    fc.assert(
      fc.property(anyWindowMember, fc.integer({ min: 2, max: 7 }), (member, version) => {
        const bytes = encodeWindowMember(member);
        bytes[0] = (version << 5) | ((bytes[0] ?? 0) & 31);
        expect(() => decodeViews(bytes)).toThrow(StoredFormatError);
      }),
    );
  });

  test('that are cut short are refused', () => {
    fc.assert(
      fc.property(anyWindowMember, fc.nat(), (member, seed) => {
        const bytes = encodeWindowMember(member);
        const cut = bytes.subarray(0, 1 + (seed % (bytes.length - 1)));
        expect(() => decodeViews(cut)).toThrow(StoredFormatError);
      }),
    );
  });
});

test('an industry that is named twice counts once', () => {
  const { industries } = viewOfImpression({ creativeId: 'c', industryIds: ['auto', 'food', 'auto'] });
  expect(industries).toEqual([valueKeyOf('auto'), valueKeyOf('food')]);
});

describe('reservation members', () => {
  test('come back as they went in, and equal ones are equal bytes', () => {
    fc.assert(
      fc.property(fc.array(anyReservation, { maxLength: 10 }), (reservations) => {
        const blob = Buffer.concat(reservations.map(encodeReservation));
        const decoded = decodeReservations(blob);
        expect(decoded).toEqual(reservations);
        expect(Buffer.concat(decoded.map(encodeReservation)).equals(blob)).toBe(true);
      }),
    );
  });

  test('hold their place where the scripts look for it', () => {
    fc.assert(
      fc.property(anyReservation, (reservation) => {
        const place = placeBytes(reservation);
        // Bytes 10 to 24 in Lua, which counts from 1.
        expect(place?.equals(encodeReservation(reservation).subarray(9, 24))).toBe(true);
      }),
    );
  });

  test('of a slot that no reservation has are nowhere', () => {
    expect(placeBytes({ breakKey: 'AAAAAAAAAAA', slot: 256, creative: 1 })).toBeUndefined();
    expect(placeBytes({ breakKey: 'AAAAAAAAAAA', slot: undefined, creative: 1 })).toBeUndefined();
  });
});

describe('history records', () => {
  test('say what the event said', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const record = decodeHistoryRecord(encodeHistoryRecord(event));
        for (const [field, value] of Object.entries(record))
          expect([field, value]).toEqual([field, event[field as keyof typeof event]]);
      }),
    );
  });

  test('count exactly like the window member of the same event', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const record = decodeHistoryRecord(encodeHistoryRecord(event));
        expect(viewOfHistoryRecord(record)).toEqual({ at: event.at, ...viewOfImpression(event) });
      }),
    );
  });

  test('are about 60 bytes for a plain impression', () => {
    const [event] = fc.sample(anyEvent, { numRuns: 1, seed: 1 });
    const plain = {
      fingerprint: 'qFgW4z7X7Ck',
      at: 1_764_553_986_000,
      creativeId: 'cr-1042',
      campaignId: 'k-77',
      brandId: 'acme',
      industryIds: ['auto'],
    };
    const rest = { seller: undefined, sessionId: undefined, breakId: undefined, slot: undefined };
    const record = encodeHistoryRecord({ ...event, ...plain, ...rest, durationMs: undefined } as never);
    expect(record).toBe('["qFgW4z7X7Ck",1764553986000,"cr-1042","k-77","acme",["auto"]]');
    expect(record.length).toBeLessThanOrEqual(64);
  });

  test.for([
    '',
    '{',
    '[]',
    '["a"]',
    '["a",1,"c","k"]',
    '[1,1,"c","k","b"]',
    '["a","1","c","k","b"]',
    '["a",1,2,"k","b"]',
    '["a",1,"c",null,"b"]',
    '["a",1,"c","k",5]',
    '["a",1,"c","k","b","i"]',
    '["a",1,"c","k","b",[1]]',
    '["a",1,"c","k","b",[],{"slot":"1"}]',
    '["a",1,"c","k","b",[],null]',
    '["a",1,"c","k","b",[],{},1]',
    '{"at":1}',
  ])('that are none are refused: %s', (text) => {
    expect(() => decodeHistoryRecord(text)).toThrow(StoredFormatError);
  });
});
