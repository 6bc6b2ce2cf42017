import { waitFor } from '@adcap/testkit';
import { describe, expect, test } from 'vitest';

describe('waitFor', () => {
  test('gives the first truthy value, asking again after falsy ones and errors', async () => {
    const answers: (() => number)[] = [
      () => 0,
      () => {
        throw new Error('not yet');
      },
      () => 7,
    ];
    expect(await waitFor(() => answers.shift()?.(), { what: 'a number' })).toBe(7);
  });

  test('says what it waited for and what came last', async () => {
    await expect(waitFor(() => false, { what: 'the window', timeoutMs: 30 })).rejects.toThrow(
      'the window: not within 30 ms; last: false',
    );
  });
});
