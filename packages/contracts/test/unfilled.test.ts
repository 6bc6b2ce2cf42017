import { isUnfilled } from '@adcap/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const DRESSINGS = ['[X]', '%%X%%', '${X}', '{{X}}', '{X}', '$$X$$', '$(X)', '<X>', '%X%', '#{X}', '__X__'];
const MACROS = [
  'IFA',
  'IFATYPE',
  'ADSERVINGID',
  'CACHEBUSTING',
  'TRANSACTIONID',
  'UNIVERSALADID',
  'device_id',
];

describe('B33, law 8: what names nobody', () => {
  test.for(MACROS.flatMap((macro) => DRESSINGS.map((dress) => dress.replace('X', macro))))('%s', (value) => {
    expect(isUnfilled(value)).toBe(true);
    expect(isUnfilled(encodeURIComponent(value))).toBe(true);
    expect(isUnfilled(encodeURIComponent(encodeURIComponent(value)))).toBe(true);
  });

  test.for([
    '',
    ' ',
    '-1',
    '-2',
    '0',
    '000',
    '00000000-0000-0000-0000-000000000000',
    'null',
    'undefined',
    'NULL',
  ])('the sentinel %j', (value) => {
    expect(isUnfilled(value)).toBe(true);
  });

  test.for(['[object Object]', '[object Undefined]'])('%s', (value) => {
    expect(isUnfilled(value)).toBe(true);
  });

  test.for([
    'd1',
    '839201',
    '10',
    'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    '📺',
    '100%',
    'a[b]c',
    '0a',
    '-3',
    '%zz',
  ])('%s is a name like any other', (value) => {
    expect(isUnfilled(value)).toBe(false);
  });

  test('any UUID but the one of zeros is a name, encoded or not', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        expect(isUnfilled(id)).toBe(false);
        expect(isUnfilled(encodeURIComponent(id))).toBe(false);
      }),
    );
  });

  test('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(() => isUnfilled(value)).not.toThrow();
      }),
    );
  });
});
