import { normaliseBrandKey } from '@adcap/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

describe('B20, law 9: one brand, one key', () => {
  test.for([
    'https://Acme.example/',
    'acme.example',
    'www.acme.example',
    'ACME.EXAMPLE.',
    'http://www.acme.example:8080/shop?x=1#top',
    '//acme.example/',
    'https://user@acme.example',
    ' acme.example ',
  ])('%s is acme.example', (spelling) => {
    expect(normaliseBrandKey(spelling)).toBe('acme.example');
  });

  test.for([
    ['api.acme.example', 'api.acme.example'],
    ['acme-example', 'acme-example'],
    ['Acme Inc.', 'Acme Inc.'],
    ['www.example', 'www.example'],
    ['http://localhost:80/', 'localhost'],
    ['brand-42', 'brand-42'],
    ['1.5', '1.5'],
    ['https://', 'https://'],
    ['bücher.example', 'bücher.example'],
  ])('%s is %s', ([spelling, key]) => {
    expect(normaliseBrandKey(spelling ?? '')).toBe(key);
  });

  test('normalising twice changes nothing', () => {
    const pieces = fc.constantFrom('www.', 'https://', 'Acme', '.example', '.', '/', ':80', '@', ' ', 'x');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const once = normaliseBrandKey(parts.join(''));
        expect(normaliseBrandKey(once)).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });
});
