import { expect, test } from 'vitest';
import { decodeImpression } from '../src/decode-impression.ts';
import { anImpression } from './testing.ts';

const event = anImpression({ deviceId: 'tv-1', campaignId: 'k1', slot: 2 });

const message = (key: string | null, value: Buffer | string | null) => ({
  partition: 0,
  offset: 0n,
  timestampMs: 0,
  headers: {},
  key: key === null ? null : Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
});

const changed = (change: object): string => JSON.stringify({ ...event, ...change });

test('decodeImpression reads an impression, and ignores fields that it does not know', () => {
  expect(decodeImpression(message('tv-1', changed({ later: true })))).toEqual({ ok: true, event });
});

test.for([
  ['a tombstone', 'tv-1', null, 'no_value'],
  ['nothing', 'tv-1', '', 'no_value'],
  ['bytes', 'tv-1', Buffer.from([0xff, 0xfe, 0x00]), 'not_utf8'],
  ['words', 'tv-1', 'not json', 'not_json'],
  ['half of it', 'tv-1', changed({}).slice(0, -1), 'not_json'],
  ['a list', 'tv-1', '[]', 'wrong_fields'],
  ['null', 'tv-1', 'null', 'wrong_fields'],
  ['a later version', 'tv-1', changed({ v: 2 }), 'unknown_version'],
  ['a version in words', 'tv-1', changed({ v: '1' }), 'wrong_fields'],
  ['another type', 'tv-1', changed({ type: 'OTHER' }), 'wrong_fields'],
  ['an empty device', '', changed({ deviceId: '' }), 'wrong_fields'],
  ['a time in words', 'tv-1', changed({ at: 'noon' }), 'wrong_fields'],
  ['a time in seconds', 'tv-1', changed({ at: 1_700_000_000 }), 'wrong_fields'],
  ['a short fingerprint', 'tv-1', changed({ fingerprint: 'abc' }), 'wrong_fields'],
  ['no key', null, changed({}), 'wrong_key'],
  ['the key of another device', 'tv-2', changed({}), 'wrong_key'],
] as const)('decodeImpression refuses %s', ([, key, value, reason]) => {
  expect(decodeImpression(message(key, value))).toMatchObject({ ok: false, reason });
});

test('decodeImpression names the field that is wrong', () => {
  expect(decodeImpression(message('tv-1', changed({ slot: 0 })))).toMatchObject({
    cause: expect.stringMatching(/^slot: /),
  });
});
