import type { Context, Dimension, Rule, RuleSet } from '@adcap/contracts';

/**
 * The laws of capping written down a second time, as plainly as possible: by names, without indexes, keys, codecs or
 * early ends. Slow on purpose; whatever answers faster must answer the same.
 */
export type OracleAd = {
  creative: string;
  campaign?: string | undefined;
  brand?: string | undefined;
  industries: readonly string[];
  exempt?: boolean;
  durationMs?: number | undefined;
};
/** A place of an earlier round. One that was watched is among what was watched, too. */
export type OraclePlace = { slot: number; ad: OracleAd; watched?: boolean };
export type OraclePod = {
  at: number;
  /** A number: that many of any length. */
  slots: number | readonly { maxMs?: number | undefined }[];
  podDurationMs?: number | undefined;
  kept?: readonly OraclePlace[];
};
export type OracleView = OracleAd & { at: number };
export type OracleWorld = {
  ruleSet: RuleSet;
  watched: readonly OracleView[];
  /** Live reservations of other breaks. */
  reserved: readonly OracleView[];
  context: Context;
};
export type OracleAnswer = {
  allowed: boolean;
  remaining: number | null;
  ruleId: string | undefined;
  decidesAt: number | undefined;
  nextAllowedAt: number | undefined;
};

const ORDER: readonly Dimension[] = ['creative', 'campaign', 'brand', 'industry'];
const UNIT = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const valuesIn = (ad: OracleAd, dimension: Dimension): readonly string[] => {
  if (dimension === 'industry') return ad.industries;
  const value = ad[dimension];
  return value === undefined ? [] : [value];
};

const windowMs = (window: string): number => {
  const unit = window.slice(-1);
  return (
    Number(window.slice(0, -1)) *
    (unit === 's' || unit === 'm' || unit === 'h' || unit === 'd' ? UNIT[unit] : NaN)
  );
};

const inForce = (rule: Rule, at: number, context: Context): boolean => {
  if (rule.enabled === false || rule.mode === 'shadow') return false;
  if (rule.startsAt !== undefined && at < rule.startsAt) return false;
  if (rule.endsAt !== undefined && at >= rule.endsAt) return false;
  return Object.entries(rule.when ?? {}).every(([key, wanted]) => {
    const given = context[key];
    return given !== undefined && [given].flat().some((value) => wanted.includes(value));
  });
};

type Line = { ruleId: string; dimension: Dimension; value: string; max: number; windowMs: number };

/** The caps that bind an ad at an instant, or 'never'. */
const linesFor = (world: OracleWorld, ad: OracleAd, at: number): Line[] | 'never' => {
  const live = world.ruleSet.rules.filter((rule) => inForce(rule, at, world.context));
  const specificFor = (dimension: Dimension, value: string): Rule[] =>
    live.filter((rule) => rule.dimension === dimension && rule.value === value);
  const isOff = (dimension: Dimension): boolean => world.ruleSet.dimensions[dimension] === 'off';

  for (const dimension of ORDER) {
    for (const value of valuesIn(ad, dimension)) {
      if (specificFor(dimension, value).some((rule) => rule.limit === 'BLOCK')) return 'never';
    }
  }
  if (ad.exempt === true) return [];

  const lines: Line[] = [];
  const add = (rules: readonly Rule[], dimension: Dimension, value: string): void => {
    for (const { id, limit } of rules) {
      if (typeof limit === 'string') continue;
      lines.push({ ruleId: id, dimension, value, max: limit.max, windowMs: windowMs(limit.window) });
    }
  };
  const spoken = new Set<string>();
  for (const dimension of ORDER) {
    const values = valuesIn(ad, dimension);
    let ended = 0;
    for (const value of values) {
      const rules = isOff(dimension)
        ? []
        : specificFor(dimension, value).filter((rule) => rule.limit !== 'BLOCK');
      if (rules.length > 0) spoken.add(`${dimension}/${value}`);
      const off = rules.some((rule) => rule.limit === 'OFF');
      if (!off) add(rules, dimension, value);
      if (off || rules.some((rule) => rule.final === true)) ended += 1;
    }
    if (values.length > 0 && ended === values.length) return lines;
  }
  for (const dimension of ORDER) {
    if (isOff(dimension)) continue;
    const generic = live.filter((rule) => rule.dimension === dimension && rule.value === undefined);
    for (const value of valuesIn(ad, dimension)) {
      if (!spoken.has(`${dimension}/${value}`)) add(generic, dimension, value);
    }
  }
  return lines;
};

const counts = (views: readonly OracleView[], line: Line, at: number): number =>
  views.filter(
    (view) =>
      valuesIn(view, line.dimension).includes(line.value) && at - line.windowMs < view.at && view.at <= at,
  ).length;

const roomAt = (world: OracleWorld, line: Line, at: number): number =>
  line.max - counts(world.watched, line, at) - counts(world.reserved, line, at);

/** The room at T and at each later reserved instant of the same value that T touches; the least and earliest decides. */
const room = (world: OracleWorld, line: Line, at: number): { room: number; at: number } => {
  if (Number.isNaN(line.windowMs)) return { room: line.max, at };
  const later = world.reserved
    .filter((view) => valuesIn(view, line.dimension).includes(line.value))
    .map((view) => view.at)
    .filter((instant) => instant > at && instant - line.windowMs < at)
    .toSorted((a, b) => a - b);
  return [at, ...later]
    .map((instant) => ({ room: roomAt(world, line, instant), at: instant }))
    .reduce((least, next) => (next.room < least.room ? next : least));
};

const fits = (world: OracleWorld, ad: OracleAd, at: number): boolean => {
  const lines = linesFor(world, ad, at);
  return lines !== 'never' && lines.every((line) => room(world, line, at).room > 0);
};

/** Room can only begin where something leaves some window, or where a rule begins or ends. */
const nextFit = (world: OracleWorld, ad: OracleAd, from: number): number | undefined => {
  const windows = world.ruleSet.rules.flatMap(({ limit }) =>
    typeof limit === 'string' || limit.window === 'pod' ? [] : [windowMs(limit.window)],
  );
  const leaving = [...world.watched, ...world.reserved].flatMap(({ at }) =>
    windows.map((window) => at + window),
  );
  const switching = world.ruleSet.rules.flatMap(({ startsAt, endsAt }) =>
    [startsAt ?? [], endsAt ?? []].flat(),
  );
  return [from, ...leaving, ...switching]
    .filter((at) => at >= from)
    .toSorted((a, b) => a - b)
    .find((at) => fits(world, ad, at));
};

/** What the laws say about one ad at T. */
export const askOracle = (world: OracleWorld, ad: OracleAd, at: number): OracleAnswer => {
  const lines = linesFor(world, ad, at);
  if (lines === 'never') {
    return {
      allowed: false,
      remaining: 0,
      ruleId: undefined,
      decidesAt: undefined,
      nextAllowedAt: undefined,
    };
  }
  const weighed = lines.map((line) => ({ line, ...room(world, line, at) }));
  const least = weighed.reduce<(typeof weighed)[number] | undefined>(
    (best, next) => (best === undefined || next.room < best.room ? next : best),
    undefined,
  );
  const allowed = least === undefined || least.room > 0;
  return {
    allowed,
    remaining: least === undefined ? null : Math.max(0, least.room),
    ruleId: least?.line.ruleId,
    decidesAt: least?.at,
    nextAllowedAt: allowed ? undefined : nextFit(world, ad, at),
  };
};

const lengthOf = (ad: OracleAd): number => ad.durationMs ?? 30_000;

/**
 * The slot of each entry of a pod, in the ad server's order: one by one, each counting the ones before it as promised at T, in the
 * first slot that is empty and long enough, as long as the whole pod is not longer than it may be.
 */
export const askOracleForPod = (
  world: OracleWorld,
  entries: readonly OracleAd[],
  { at, slots, podDurationMs = Infinity, kept = [] }: OraclePod,
): (number | undefined)[] => {
  const lengths = typeof slots === 'number' ? Array.from({ length: slots }, () => ({})) : slots;
  const places: OraclePlace[] = [...kept];
  return entries.map((ad) => {
    const lines = linesFor(world, ad, at);
    if (lines === 'never') return undefined;
    const fitsEveryLine = lines.every((line) => {
      const isOfPod = Number.isNaN(line.windowMs);
      const own = places
        .filter(({ watched = false }) => isOfPod || !watched)
        .filter((place) => valuesIn(place.ad, line.dimension).includes(line.value)).length;
      return room(world, line, at).room - own > 0;
    });
    if (!fitsEveryLine) return undefined;
    const filledMs = places.reduce((sum, place) => sum + lengthOf(place.ad), 0);
    if (filledMs + lengthOf(ad) > podDurationMs) return undefined;
    const slot = lengths
      .map(({ maxMs = Infinity }: { maxMs?: number | undefined }, index) => ({ maxMs, slot: index + 1 }))
      .filter((one) => places.every((place) => place.slot !== one.slot))
      .find(({ maxMs }) => lengthOf(ad) <= maxMs)?.slot;
    if (slot !== undefined) places.push({ slot, ad });
    return slot;
  });
};
