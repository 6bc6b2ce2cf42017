import { DIMENSIONS, type Dimension } from '@adcap/contracts';
import { type Ad, type AdValue, valuesOf } from './ad.ts';
import { applies, type Circumstances, type NotApplying, whyNotApplying } from './applies.ts';
import type { CompiledRule, CompiledRules } from './compile-rules.ts';
import { genericInContext } from './generic-in-context.ts';

/** A rule bound to the value that it counts. */
export type Bound = { rule: CompiledRule; value: AdValue };

/** A cap that applies to an ad. `windowMs` null: a pod window. */
export type Cap = Bound & { max: number; windowMs: number | null };

/** What the rules say about an ad: never, or these caps, in the ladder's order. */
export type Ladder = { block: Bound | undefined; caps: readonly Cap[]; shadow: readonly Bound[] };

/** What became of a rule that names the ad's value: the line of an explanation. */
export type RuleFate = 'applies' | 'shadow' | 'replaced' | 'ended' | 'dimension_off' | NotApplying;

/** Told of every rule that was considered, where someone wants to know. */
export type Witness = (bound: Bound, fate: RuleFate, because?: CompiledRule) => void;

const NOTHING: readonly CompiledRule[] = [];
const unseen: Witness = () => undefined;

const capOf = (bound: Bound): Cap | undefined => {
  const { limit } = bound.rule;
  return limit.kind === 'cap' ? { ...bound, max: limit.max, windowMs: limit.windowMs } : undefined;
};

const specificRules = (rules: CompiledRules, dimension: Dimension, value: AdValue): readonly CompiledRule[] =>
  rules.specific[dimension].get(value.value) ?? NOTHING;

const inForce = (rule: CompiledRule, circumstances: Circumstances): boolean =>
  !rule.shadow && applies(rule, circumstances);

/** The first applying BLOCK of the ad: over every OFF, exemption and switched-off dimension. */
export const findBlock = (rules: CompiledRules, ad: Ad, circumstances: Circumstances): Bound | undefined => {
  for (const dimension of DIMENSIONS) {
    for (const value of valuesOf(ad, dimension)) {
      const rule = specificRules(rules, dimension, value).find(
        (candidate) => candidate.limit.kind === 'block' && inForce(candidate, circumstances),
      );
      if (rule !== undefined) return { rule, value };
    }
  }
  return undefined;
};

/** One specific rung at one value: its caps, what replaced the generics there, and what ended the walk. */
type Rung = { caps: Cap[]; replacedBy: CompiledRule | undefined; endedBy: CompiledRule | undefined };

const EMPTY_RUNG: Rung = { caps: [], replacedBy: undefined, endedBy: undefined };

const specificRung = (
  candidates: readonly CompiledRule[],
  value: AdValue,
  circumstances: Circumstances,
): Rung => {
  const applying = candidates.filter((rule) => rule.limit.kind !== 'block' && inForce(rule, circumstances));
  const off = applying.find((rule) => rule.limit.kind === 'off');
  if (off !== undefined) return { caps: [], replacedBy: off, endedBy: off };
  const caps = applying.map((rule) => capOf({ rule, value })).filter((cap) => cap !== undefined);
  return { caps, replacedBy: applying[0], endedBy: applying.find((rule) => rule.final) };
};

type Walk = { rules: CompiledRules; ad: Ad; circumstances: Circumstances; witness: Witness };

const witnessNotApplying = ({ witness, circumstances }: Walk, bound: Bound): boolean => {
  const why = whyNotApplying(bound.rule, circumstances);
  if (why !== undefined) witness(bound, why);
  return why !== undefined;
};

/** Tells the witness what became of each rule of a rung, given what replaced or ended it there. */
const witnessRung = (
  walk: Walk,
  bounds: readonly Bound[],
  fate: { fate: RuleFate; because?: CompiledRule | undefined },
): void => {
  for (const bound of bounds) {
    if (witnessNotApplying(walk, bound)) continue;
    if (bound.rule.shadow) walk.witness(bound, 'shadow');
    else if (bound.rule.limit.kind === 'block') walk.witness(bound, 'applies');
    else walk.witness(bound, fate.fate, fate.because);
  }
};

const bind = (rules: readonly CompiledRule[], value: AdValue): Bound[] =>
  rules.map((rule) => ({ rule, value }));

const witnessSpecific = (walk: Walk, bounds: readonly Bound[], rung: Rung): void => {
  const off = rung.endedBy?.limit.kind === 'off' ? rung.endedBy : undefined;
  witnessRung(walk, off === undefined ? bounds : bounds.filter(({ rule }) => rule.limit.kind === 'off'), {
    fate: 'applies',
  });
  if (off !== undefined) {
    const others = bounds.filter(({ rule }) => rule.limit.kind !== 'off');
    witnessRung(walk, others, { fate: 'replaced', because: off });
  }
};

/** The state of a walk down the ladder: what has been gathered, and what ended it. */
type Descent = { caps: Cap[]; endedBy: CompiledRule | undefined; rungs: Map<AdValue, Rung> };

const descendSpecific = (walk: Walk, dimension: Dimension, descent: Descent): void => {
  const values = valuesOf(walk.ad, dimension);
  const on = walk.rules.isOn[dimension];
  const ends: (CompiledRule | undefined)[] = [];
  for (const value of values) {
    const candidates = specificRules(walk.rules, dimension, value);
    const reached = on && descent.endedBy === undefined;
    const rung = reached ? specificRung(candidates, value, walk.circumstances) : EMPTY_RUNG;
    if (walk.witness !== unseen) {
      const bounds = bind(candidates, value);
      if (reached) witnessSpecific(walk, bounds, rung);
      else
        witnessRung(
          walk,
          bounds,
          on ? { fate: 'ended', because: descent.endedBy } : { fate: 'dimension_off' },
        );
    }
    descent.caps.push(...rung.caps);
    descent.rungs.set(value, rung);
    ends.push(rung.endedBy);
  }
  // Several industries: the walk ends only where it ends for all of them.
  if (descent.endedBy === undefined && ends.length > 0 && ends.every((end) => end !== undefined)) {
    descent.endedBy = ends[0];
  }
};

/** What became of the generic rules of a rung, in the order in which it is decided. */
const genericFate = (
  walk: Walk,
  dimension: Dimension,
  reached: { endedBy: CompiledRule | undefined; replacedBy: CompiledRule | undefined },
): { fate: RuleFate; because?: CompiledRule | undefined } => {
  if (!walk.rules.isOn[dimension]) return { fate: 'dimension_off' };
  if (reached.endedBy !== undefined) return { fate: 'ended', because: reached.endedBy };
  if (reached.replacedBy !== undefined) return { fate: 'replaced', because: reached.replacedBy };
  return { fate: 'applies' };
};

const descendGeneric = (walk: Walk, dimension: Dimension, descent: Descent): void => {
  const fitting = genericInContext(walk.rules, walk.circumstances.context)[dimension];
  const reaches = walk.rules.isOn[dimension] && descent.endedBy === undefined;
  for (const value of valuesOf(walk.ad, dimension)) {
    const replacedBy = descent.rungs.get(value)?.replacedBy;
    if (walk.witness !== unseen) {
      const reached = { endedBy: descent.endedBy, replacedBy };
      witnessRung(walk, bind(walk.rules.generic[dimension], value), genericFate(walk, dimension, reached));
    }
    if (!reaches || replacedBy !== undefined) continue;
    for (const rule of fitting) {
      const cap = inForce(rule, walk.circumstances) ? capOf({ rule, value }) : undefined;
      if (cap !== undefined) descent.caps.push(cap);
    }
  }
};

const NONE: readonly Bound[] = [];

/** Looked for at every ad, mostly in vain: nothing is allocated until one is found. */
const shadowRules = ({ rules, ad, circumstances }: Walk): readonly Bound[] => {
  const generic = genericInContext(rules, circumstances.context);
  let found: Bound[] | undefined;
  const look = (candidates: readonly CompiledRule[], value: AdValue): void => {
    for (const rule of candidates) {
      if (!rule.shadow || !applies(rule, circumstances)) continue;
      found ??= [];
      found.push({ rule, value });
    }
  };
  for (const dimension of DIMENSIONS) {
    if (!rules.isOn[dimension]) continue;
    for (const value of valuesOf(ad, dimension)) {
      look(specificRules(rules, dimension, value), value);
      look(generic[dimension], value);
    }
  }
  return found ?? NONE;
};

/**
 * Law 3: walks the eight rungs (specific creative, campaign, brand, industry, then the generic ones) for one ad. Caps come
 * in the order in which ties are decided.
 *
 * @param witness is told the fate of every rule that names one of the ad's values
 */
export const resolveLadder = (
  rules: CompiledRules,
  ad: Ad,
  options: Circumstances & { witness?: Witness },
): Ladder => {
  const walk: Walk = { rules, ad, circumstances: options, witness: options.witness ?? unseen };
  const descent: Descent = { caps: [], endedBy: undefined, rungs: new Map() };
  for (const dimension of DIMENSIONS) descendSpecific(walk, dimension, descent);
  for (const dimension of DIMENSIONS) descendGeneric(walk, dimension, descent);
  return {
    block: findBlock(rules, ad, options),
    caps: ad.exempt ? [] : descent.caps,
    shadow: shadowRules(walk),
  };
};
