import { epochMs, type ImpressionEvent } from '@adcap/contracts';
import { describe, expect, test } from 'vitest';
import { nameMark } from '../src/adapters/name-mark.ts';
import type { DoneMarks } from '../src/domain/done-marks.ts';
import { createPublishOnce } from '../src/publish-once.ts';
import { RECEIVED_AT, someEvent } from './beacon-fixtures.ts';
import { createInMemoryMarks } from './in-memory-marks.ts';

/** A bus whose acknowledgements a test gives itself, one call after the other. */
const createHeldBus = () => {
  const calls: { events: readonly ImpressionEvent[]; acknowledge(): void; fail(error: Error): void }[] = [];
  const publish = (events: readonly ImpressionEvent[]): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    calls.push({ events, acknowledge: resolve, fail: reject });
    return promise;
  };
  return { calls, publish };
};

/** A bus that acknowledges at once. */
const createOpenBus = () => {
  const published: ImpressionEvent[] = [];
  const publish = async (events: readonly ImpressionEvent[]): Promise<void> => {
    published.push(...events);
  };
  return { published, publish };
};

/** Lets everything that waits for nothing else run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

const x = () => someEvent({ impressionId: 'x' });
const y = () => someEvent({ impressionId: 'y' });
const moment = (offsetMs: number) => someEvent({ at: RECEIVED_AT + offsetMs });

describe('publishOnce', () => {
  test('publishes what is new with one look at the marks and one writing', async () => {
    const bus = createOpenBus();
    const marks = createInMemoryMarks();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks, nameMark });
    const events = Array.from({ length: 100 }, (_, index) => someEvent({ impressionId: `i${index}` }));

    expect(await publishOnce(events)).toStrictEqual(events.map(() => 'accepted'));
    expect(bus.published).toStrictEqual(events);
    expect(marks.calls).toStrictEqual({ find: 1, write: 1 });
  });

  test('answers twins of one call as duplicates of the first', async () => {
    const bus = createOpenBus();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks: createInMemoryMarks(), nameMark });

    expect(await publishOnce([x(), y(), x(), x()])).toStrictEqual([
      'accepted',
      'accepted',
      'duplicate',
      'duplicate',
    ]);
    expect(bus.published).toStrictEqual([x(), y()]);
  });

  test('answers a repeat from its mark and publishes nothing', async () => {
    const bus = createOpenBus();
    const marks = createInMemoryMarks();
    await createPublishOnce({ publish: bus.publish, marks, nameMark })([x()]);
    const another = createPublishOnce({ publish: bus.publish, marks, nameMark });

    expect(await another([x()])).toStrictEqual(['duplicate']);
    expect(bus.published).toHaveLength(1);
    expect(marks.calls.write).toBe(1);
  });

  test('keeps a twin waiting for the acknowledgement of the first', async () => {
    const bus = createHeldBus();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks: createInMemoryMarks(), nameMark });
    const first = publishOnce([x()]);
    const answered: string[] = [];
    const twin = publishOnce([x()]).then((outcomes) => answered.push(...outcomes));
    await settled();
    expect(answered).toStrictEqual([]);

    bus.calls[0]?.acknowledge();

    expect(await first).toStrictEqual(['accepted']);
    await twin;
    expect(answered).toStrictEqual(['duplicate']);
    expect(bus.calls).toHaveLength(1);
  });

  test('fails a twin with the first, and takes the next one anew', async () => {
    const bus = createHeldBus();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks: createInMemoryMarks(), nameMark });
    const both = Promise.allSettled([publishOnce([x()]), publishOnce([x()])]);
    await settled();
    bus.calls[0]?.fail(new Error('away'));
    expect((await both).map(({ status }) => status)).toStrictEqual(['rejected', 'rejected']);

    const again = publishOnce([x()]);
    await settled();
    bus.calls[1]?.acknowledge();
    expect(await again).toStrictEqual(['accepted']);
  });

  test('lets calls that share each other’s impressions finish', async () => {
    const bus = createOpenBus();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks: createInMemoryMarks(), nameMark });
    const outcomes = await Promise.all([
      publishOnce([x(), moment(0), y()]),
      publishOnce([y(), moment(0), x()]),
      publishOnce([moment(0), x()]),
    ]);
    expect(outcomes.flat().filter((outcome) => outcome === 'accepted')).toHaveLength(3);
    expect(bus.published).toHaveLength(3);
  });

  test('publishes again, under the same fingerprint, after a death between publishing and marking', async () => {
    const bus = createOpenBus();
    const marks = createInMemoryMarks();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks, nameMark });
    await publishOnce([x()]);
    marks.forget();

    expect(await publishOnce([x()])).toStrictEqual(['accepted']);
    expect(new Set(bus.published.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    expect(bus.published).toHaveLength(2);
  });

  test('marks nothing before the acknowledgement', async () => {
    const bus = createHeldBus();
    const marks = createInMemoryMarks();
    const failed = createPublishOnce({ publish: bus.publish, marks, nameMark })([x()]);
    await settled();
    expect(marks.calls).toStrictEqual({ find: 1, write: 0 });
    bus.calls[0]?.fail(new Error('away'));
    await expect(failed).rejects.toThrow('away');
    expect(marks.calls.write).toBe(0);
  });

  test('B33 measures moments against the last that counted, across calls and processes', async () => {
    const bus = createOpenBus();
    const marks = createInMemoryMarks();
    const take = (...offsets: number[]) =>
      createPublishOnce({ publish: bus.publish, marks, nameMark })(offsets.map(moment));

    expect(await take(0)).toStrictEqual(['accepted']);
    expect(await take(29_999)).toStrictEqual(['duplicate']);
    expect(await take(30_000)).toStrictEqual(['accepted']);
    expect(await take(45_000, 75_000)).toStrictEqual(['duplicate', 'accepted']);
    expect(await take(20 * 60_000)).toStrictEqual(['accepted']);
  });

  test('measures a moment against those that are still in flight, without any mark', async () => {
    const bus = createHeldBus();
    const blind: DoneMarks = { find: async () => [], write: async () => {} };
    const publishOnce = createPublishOnce({ publish: bus.publish, marks: blind, nameMark });
    const answers = Promise.all([
      publishOnce([moment(0)]),
      publishOnce([moment(10)]),
      publishOnce([moment(20)]),
    ]);
    await settled();
    bus.calls[0]?.acknowledge();

    expect(await answers).toStrictEqual([['accepted'], ['duplicate'], ['duplicate']]);
    expect(bus.calls).toHaveLength(1);
  });

  test('takes the moment over from a call that failed', async () => {
    const bus = createHeldBus();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks: createInMemoryMarks(), nameMark });
    const first = publishOnce([moment(0)]);
    const second = publishOnce([moment(10)]);
    await settled();
    bus.calls[0]?.fail(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await settled();
    bus.calls[1]?.acknowledge();
    expect(await second).toStrictEqual(['accepted']);
  });

  test('keeps moments of other devices and creatives apart', async () => {
    const bus = createOpenBus();
    const publishOnce = createPublishOnce({ publish: bus.publish, marks: createInMemoryMarks(), nameMark });
    const events = [someEvent(), someEvent({ deviceId: 'd2' }), someEvent({ creativeId: 'c2' })];
    expect(await publishOnce(events)).toStrictEqual(['accepted', 'accepted', 'accepted']);
  });
});

test('nameMark gives one name to all moments of a device and creative, and else the fingerprint', () => {
  expect(nameMark(moment(0))).toBe(nameMark(moment(5_000)));
  expect(nameMark(moment(0))).not.toBe(nameMark(someEvent({ creativeId: 'c2', at: epochMs(RECEIVED_AT) })));
  expect(nameMark(x())).toBe(x().fingerprint);
});
