import { describe, expect, test } from 'vitest';
import { createKeys } from '../src/index.ts';

describe('createKeys', () => {
  // Key names are a data format: whoever changes one leaves every counter behind.
  test('gives the names that are in Redis', () => {
    const keys = createKeys();
    const device = keys.device('TAG4567890123456');
    expect({
      history: device.history,
      window: device.window,
      reservations: device.reservations,
      meta: device.meta,
      pod: device.pod('BREAKKEY890'),
      done: device.done('FINGERPRINT'),
      applied: keys.applied('adcap-quota'),
      rules: keys.rules,
      switches: keys.switches,
      everyDevicePattern: keys.everyDevicePattern,
      everyHistoryPattern: keys.everyHistoryPattern,
    }).toMatchInlineSnapshot(`
      {
        "applied": "adcap:applied:adcap-quota",
        "done": "adcap:{TAG4567890123456}:d:FINGERPRINT",
        "everyDevicePattern": "adcap:{*",
        "everyHistoryPattern": "adcap:{*}:h",
        "history": "adcap:{TAG4567890123456}:h",
        "meta": "adcap:{TAG4567890123456}:m",
        "pod": "adcap:{TAG4567890123456}:b:BREAKKEY890",
        "reservations": "adcap:{TAG4567890123456}:r",
        "rules": "adcap:rules",
        "switches": "adcap:switches",
        "window": "adcap:{TAG4567890123456}:w",
      }
    `);
  });

  test('B12: puts every key of a device under one hash tag', () => {
    const device = createKeys('x:').device('TAG');
    const { history, window, reservations, meta } = device;
    for (const key of [history, window, reservations, meta, device.pod('{}'), device.done('}{')])
      expect(/\{([^}]*)\}/.exec(key)?.[1]).toBe('TAG');
  });

  test('refuses a prefix that would be the hash tag', () => {
    expect(() => createKeys('a{b}:')).toThrow(/braces/);
  });

  test('matches a prefix literally when it looks for keys', () => {
    expect(createKeys('a*[b]?:').everyDevicePattern).toBe('a\\*\\[b\\]\\?:{*');
  });

  test('knows a history by its key, and whose it is', () => {
    const keys = createKeys('x:');
    const others = ['x:{TAG}:w', 'y:{TAG}:h', 'x:TAG}:h', 'x:{TAG}:b:{}:h'];
    expect(keys.tagOfHistory(keys.device('TAG').history)).toBe('TAG');
    expect(others.map((key) => keys.tagOfHistory(key))).toEqual(others.map(() => undefined));
  });
});
