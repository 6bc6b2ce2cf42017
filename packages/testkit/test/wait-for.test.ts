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

  test('gives up a condition that hangs', async () => {
    await expect(
      waitFor(() => new Promise<boolean>(() => undefined), { what: 'the reply', timeoutMs: 30 }),
    ).rejects.toThrow("the reply: not within 30 ms; last: 'no answer yet'");
  });

  test('asks no more once time is up', async () => {
    let asked = 0;
    await expect(
      waitFor(
        () => {
          asked += 1;
          return false;
        },
        { what: 'never', timeoutMs: 30 },
      ),
    ).rejects.toThrow('never');
    const before = asked;
    await expect(waitFor(() => asked > before, { what: 'one more', timeoutMs: 60 })).rejects.toThrow(
      'one more',
    );
  });

  test('keeps the last error as the cause', async () => {
    const refused = new Error('refused');
    await expect(
      waitFor(() => Promise.reject(refused), { what: 'a connection', timeoutMs: 30 }),
    ).rejects.toMatchObject({ message: 'a connection: not within 30 ms; last: refused', cause: refused });
  });
});
