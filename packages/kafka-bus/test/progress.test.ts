import { describe, expect, test } from 'vitest';
import { ProgressBook } from '../src/progress.ts';

describe('ProgressBook', () => {
  test('B56 a batch that hangs is stuck; one that waits for its retry is not', () => {
    const book = new ProgressBook();
    book.assign([0], 0);
    book.noteAttempt(0, 1, { nowMs: 1_000, oldestTimestampMs: 900 });
    expect(book.isStuck(31_000, 30_000)).toBe(false);
    expect(book.isStuck(31_001, 30_000)).toBe(true);
    expect(book.snapshot().get(0)).toMatchObject({ attempts: 1, oldestUnappliedTimestampMs: 900 });
    book.noteAttemptEnd(0);
    expect(book.isStuck(1_000_000, 30_000)).toBe(false);
    expect(book.snapshot().get(0)).toMatchObject({ oldestUnappliedTimestampMs: 900 });
  });

  test('the lag grows with the log while the batch hangs', () => {
    const book = new ProgressBook();
    book.assign([0], 0);
    expect(book.snapshot().get(0)?.lag).toBeUndefined();
    book.noteEnd(0, 10n);
    book.noteStart(0, 4n);
    expect(book.snapshot().get(0)?.lag).toBe(6n);
    book.noteApplied(0, 10n, 5);
    expect(book.snapshot().get(0)).toMatchObject({
      lag: 0n,
      lastProgressAtMs: 5,
      oldestUnappliedTimestampMs: undefined,
    });
    book.noteEnd(0, 25n);
    expect(book.snapshot().get(0)?.lag).toBe(15n);
  });

  test('knows only what is assigned', () => {
    const book = new ProgressBook();
    book.assign([1], 0);
    book.noteApplied(0, 3n, 1);
    book.noteEnd(0, 3n);
    book.noteAttempt(0, 1, { nowMs: 0, oldestTimestampMs: 0 });
    expect([...book.snapshot().keys()]).toEqual([1]);
    expect(book.isWorking()).toBe(false);
  });
});
