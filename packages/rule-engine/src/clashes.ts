import { parseWindowMs, type Rule, type RuleFinding } from '@adcap/contracts';
import { meetingPlace } from './meeting-place.ts';
import type { Steps } from './steps.ts';

type Placed = { rule: Rule; index: number };

const startOf = ({ rule }: Placed): number => rule.startsAt ?? Number.NEGATIVE_INFINITY;
const endOf = ({ rule }: Placed): number => rule.endsAt ?? Number.POSITIVE_INFINITY;

const laneOf = ({ limit }: Rule): string =>
  typeof limit === 'string' ? limit : String(parseWindowMs(limit.window) ?? 'pod');

const isCap = (lane: string): boolean => lane !== 'OFF' && lane !== 'BLOCK';

/** The one that lasts longest of those that have begun. */
const lasting = (a: Placed | undefined, b: Placed): Placed =>
  a === undefined || endOf(b) > endOf(a) ? b : a;

/** Of two rules the one that stands later in the set is the one that is wrong. */
const finding = (a: Placed, b: Placed, message: (other: string) => string): [number, RuleFinding] => {
  const [earlier, later] = a.index < b.index ? [a, b] : [b, a];
  return [later.index, { ruleId: later.rule.id, field: 'limit', message: message(earlier.rule.id) }];
};

const sameWindow = (other: string): string => `says the same window as rule ${other}`;
const offBesideCap = (other: string): string =>
  `stands beside rule ${other}: OFF and a cap exclude each other`;

/** In the order in which they begin, each is held against what still lasts then: not against every other one. */
const clashesOf = (meeting: readonly Placed[]): [number, RuleFinding][] => {
  const found: [number, RuleFinding][] = [];
  const lastingIn = new Map<string, Placed>();
  let lastingCap: Placed | undefined;
  for (const placed of meeting.toSorted((a, b) => startOf(a) - startOf(b))) {
    const lane = laneOf(placed.rule);
    const twin = lastingIn.get(lane);
    const opposite = lane === 'OFF' ? lastingCap : isCap(lane) ? lastingIn.get('OFF') : undefined;
    if (twin !== undefined && endOf(twin) > startOf(placed)) found.push(finding(twin, placed, sameWindow));
    else if (opposite !== undefined && endOf(opposite) > startOf(placed))
      found.push(finding(opposite, placed, offBesideCap));
    lastingIn.set(lane, lasting(twin, placed));
    if (isCap(lane)) lastingCap = lasting(lastingCap, placed);
  }
  return found;
};

/** Enabled and shadow rules are compared among their own kind. */
const placeOf = ({ rule }: Placed): string =>
  JSON.stringify([meetingPlace(rule), rule.mode ?? 'enforce', rule.enabled ?? true]);

const RULES_A_STEP = 100;

/**
 * Law 4: two equal windows, or OFF beside a cap, on one rung and value, under the same `when` and at the same time. At most one
 * finding a rule, in the order of the set; the work grows with the rules and not with their pairs.
 */
export function* findClashes(rules: readonly Rule[]): Steps<RuleFinding[]> {
  const meetings = new Map<string, Placed[]>();
  for (const [index, rule] of rules.entries()) {
    if (index % RULES_A_STEP === 0) yield;
    const placed = { rule, index };
    const place = placeOf(placed);
    const meeting = meetings.get(place);
    if (meeting === undefined) meetings.set(place, [placed]);
    else meeting.push(placed);
  }
  yield;
  const found = new Map<number, RuleFinding>();
  for (const meeting of meetings.values()) {
    if (meeting.length === 1) continue;
    for (const [index, one] of clashesOf(meeting)) if (!found.has(index)) found.set(index, one);
  }
  return [...found].toSorted(([a], [b]) => a - b).map(([, one]) => one);
}
