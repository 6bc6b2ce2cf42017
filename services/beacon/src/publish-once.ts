import { type EpochMs, epochMs, type ImpressionEvent } from '@adcap/contracts';
import type { DoneMarks, NameMark, PublishEvents } from './domain/done-marks.ts';
import { countedMoments } from './domain/same-moment.ts';

export type PublishOutcome = 'accepted' | 'duplicate';

/** One outcome an event, in order. Rejects when any of them is not known to be stored: then nothing is claimed. */
export type PublishOnce = (events: readonly ImpressionEvent[]) => Promise<readonly PublishOutcome[]>;

/** By the name of its mark, when the last view of a moment was watched that counted. */
type LastCounted = ReadonlyMap<string, EpochMs>;
type InFlight = Map<string, Promise<LastCounted>>;

/** What one call does itself, and which calls before it do the rest. */
type Claim = {
  own: readonly { event: ImpressionEvent; name: string }[];
  twinsOf: ReadonlySet<Promise<LastCounted>>;
  /** Calls that hold a moment of ours; where two moments are one depends on how theirs end. */
  after: ReadonlyMap<string, Promise<LastCounted>>;
};

/** Takes what nobody else has in flight. Never waits half-way, so that two calls cannot wait for each other. */
const claim = (
  named: readonly { event: ImpressionEvent; name: string }[],
  inFlight: InFlight,
  self: Promise<LastCounted>,
): Claim => {
  const own: { event: ImpressionEvent; name: string }[] = [];
  const twinsOf = new Set<Promise<LastCounted>>();
  const after = new Map<string, Promise<LastCounted>>();
  for (const one of named) {
    const holder = inFlight.get(one.name);
    const isOurs = holder === undefined || holder === self;
    if (one.event.identity === 'moment') {
      if (!isOurs) after.set(one.name, holder);
      own.push(one);
    } else if (holder === undefined) {
      own.push(one);
    } else {
      if (!isOurs) twinsOf.add(holder);
      continue;
    }
    inFlight.set(one.name, self);
  }
  return { own, twinsOf, after };
};

/** What a failed call before us has counted is not known here: its marks tell, if anything does. */
const lastCountedBy = async (after: Claim['after']): Promise<Map<string, EpochMs>> => {
  const known = new Map<string, EpochMs>();
  for (const [name, holder] of after) {
    const at = await holder.then(
      (counted) => counted.get(name),
      () => undefined,
    );
    if (at !== undefined) known.set(name, at);
  }
  return known;
};

const readMarks = async (own: Claim['own'], marks: DoneMarks): Promise<Map<string, EpochMs>> => {
  const devices = new Map(own.map(({ event, name }) => [name, event.deviceId]));
  const names = [...devices.keys()];
  const found = await marks.find([...devices].map(([name, deviceId]) => ({ deviceId, name })));
  return new Map(
    names.flatMap((name, index): [string, EpochMs][] => {
      const at = found[index];
      return at === undefined ? [] : [[name, at]];
    }),
  );
};

const unmarked = (own: Claim['own'], marked: ReadonlyMap<string, EpochMs>): ReadonlySet<ImpressionEvent> => {
  const moments = Map.groupBy(
    own.filter(({ event }) => event.identity === 'moment'),
    ({ name }) => name,
  );
  const fresh = new Set(
    own
      .filter(({ event, name }) => event.identity !== 'moment' && !marked.has(name))
      .map(({ event }) => event),
  );
  for (const [name, views] of moments) {
    const counted = countedMoments(
      views.map(({ event }) => event),
      marked.get(name),
    );
    for (const view of counted) fresh.add(view);
  }
  return fresh;
};

/**
 * Publishes each impression once, as far as a beacon can know it: twins of one process share the first one's outcome,
 * and what was acknowledged in the last two minutes is a duplicate. What is missed here, the fingerprint absorbs.
 */
export const createPublishOnce = (deps: {
  publish: PublishEvents;
  marks: DoneMarks;
  nameMark: NameMark;
}): PublishOnce => {
  const inFlight: InFlight = new Map();

  const publishOwn = async (
    { own, after }: Claim,
    acknowledged: (last: LastCounted) => void,
  ): Promise<ReadonlySet<ImpressionEvent>> => {
    const before = await lastCountedBy(after);
    const marked = new Map([...(await readMarks(own, deps.marks)), ...before]);
    const fresh = unmarked(own, marked);
    const taken = own.filter(({ event }) => fresh.has(event));
    // 1. Published. Whoever dies before this has claimed nothing; the caller gets no answer and sends again.
    if (taken.length > 0) await deps.publish(taken.map(({ event }) => event));
    for (const { event, name } of taken) marked.set(name, epochMs(event.at));
    acknowledged(marked);
    // 2. Marked. Whoever dies between 1 and 2 leaves a published impression without its mark: the caller sends again,
    //    it is published again under the same fingerprint, and every consumer counts it once.
    if (taken.length > 0) {
      await deps.marks.write(
        taken.map(({ event, name }) => ({ deviceId: event.deviceId, name, at: epochMs(event.at) })),
      );
    }
    // 3. Answered, by the caller. Whoever dies between 2 and 3 leaves a marked impression: sent again, a duplicate.
    return fresh;
  };

  return async function publishOnce(events) {
    const { promise: self, resolve, reject } = Promise.withResolvers<LastCounted>();
    // Most calls have no twin that would look.
    self.catch(() => {});
    const named = events.map((event) => ({ event, name: deps.nameMark(event) }));
    const claimed = claim(named, inFlight, self);
    let accepted: ReadonlySet<ImpressionEvent> = new Set();
    try {
      if (claimed.own.length > 0) accepted = await publishOwn(claimed, resolve);
    } catch (error) {
      reject(error);
      throw error;
    } finally {
      for (const { name } of claimed.own) if (inFlight.get(name) === self) inFlight.delete(name);
    }
    await Promise.all(claimed.twinsOf);
    return events.map((event) => (accepted.has(event) ? 'accepted' : 'duplicate'));
  };
};
