import { describe, expect, test } from 'vitest';
import { parseQuery, queryProblems } from '../src/query-parser.ts';

describe('parseQuery takes', () => {
  const cases: [text: string, query: Record<string, string>][] = [
    ['', {}],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1=2', { a: '1=2' }],
    ['a+b=c+d%20e', { 'a b': 'c d e' }],
    ['%C3%BC=%F0%9F%91%9F', { ü: '👟' }],
    ['a=&b&=x&&c=1', { '': 'x', c: '1' }],
    ['a=%2B%26%3D', { a: '+&=' }],
    ['constructor=1&toString=2', { constructor: '1', toString: '2' }],
  ];
  test.for(cases)('%s', ([text, query]) => {
    const parsed = parseQuery(text);
    expect({ ...parsed }).toEqual(query);
    expect(queryProblems(parsed)).toEqual([]);
  });

  const macros: [raw: string][] = [
    ['%%IFA%%'],
    ['%%DEVICEID%%'],
    ['%IFA%'],
    ['%ADID%'],
    ['x-%%CACHEBUSTER%%-y'],
    ['${IFA}'],
  ];
  test.for(macros)('B33: the unfilled macro %s as it is written', ([raw]) => {
    const parsed = parseQuery(`deviceId=${raw}`);
    expect(parsed['deviceId']).toBe(raw);
    expect(queryProblems(parsed)).toEqual([]);
  });

  test('B33: an encoded macro decoded', () => {
    expect(parseQuery('deviceId=%5BIFA%5D&c=%25%25X%25%25')).toMatchObject({ deviceId: '[IFA]', c: '%%X%%' });
  });
});

describe('parseQuery refuses', () => {
  const cases: [text: string, field: string, message: string][] = [
    ['a=1&a=2', 'querystring.a', 'is given more than once'],
    ['a=&a=2', 'querystring.a', 'is given more than once'],
    ['a=1&%61=2', 'querystring.a', 'is given more than once'],
    ['x=%E0%A4%A', 'querystring.x', 'has broken percent-encoding'],
    ['x=100%', 'querystring.x', 'has broken percent-encoding'],
    ['%zz=1', 'querystring.%zz', 'has broken percent-encoding'],
    ['x=a%00', 'querystring.x', 'is not allowed'],
    ['__proto__=1', 'querystring.__proto__', 'is not allowed'],
    ['%5F_proto__=1', 'querystring.%5F_proto__', 'is not allowed'],
  ];
  test.for(cases)('%s', ([text, field, message]) => {
    expect(queryProblems(parseQuery(text))).toEqual([{ field, message }]);
  });

  test('every problem at once', () => {
    expect(queryProblems(parseQuery('a=1&a=2&a=3&b=%'))).toHaveLength(3);
  });
});
