import { DIMENSIONS, parseWindowMs, type Rule, type RuleFinding, type RuleSetDraft } from '@adcap/contracts';

type CapRule = Rule & { limit: { max: number; window: string } };

const isEnforcedCap = (rule: Rule): rule is CapRule =>
  typeof rule.limit !== 'string' && rule.mode !== 'shadow' && rule.enabled !== false;

const windowMsOf = (rule: CapRule): number | undefined => parseWindowMs(rule.limit.window);

const isGeneric = (rule: Rule): boolean => rule.value === undefined;

/** Whatever the specific cap lets through, the other stops first: fewer views over at least as long a time. */
const bindsFirst = (other: CapRule, cap: CapRule): boolean => {
  const [otherMs, capMs] = [windowMsOf(other), windowMsOf(cap)];
  return otherMs !== undefined && capMs !== undefined && other.limit.max <= cap.limit.max && otherMs >= capMs;
};

/** A generic rule of another dimension applies beside the specific cap, unless that is final. */
const neverBinds = (cap: CapRule, generics: readonly CapRule[]): RuleFinding | undefined => {
  const other = generics.find(
    (generic) =>
      generic.dimension !== cap.dimension && generic.when === undefined && bindsFirst(generic, cap),
  );
  return other === undefined
    ? undefined
    : {
        ruleId: cap.id,
        field: 'limit',
        message: `may never bind: where an ad has a ${other.dimension}, rule ${other.id} blocks first; did you mean final?`,
      };
};

const looserThanGeneric = (cap: CapRule, generics: readonly CapRule[]): RuleFinding | undefined => {
  const generic = generics.find((other) => other.dimension === cap.dimension && bindsFirst(other, cap));
  return generic === undefined
    ? undefined
    : {
        ruleId: cap.id,
        field: 'limit',
        message: `is looser than the generic rule ${generic.id} which it replaces`,
      };
};

const hasNoEnd = (rule: Rule): RuleFinding | undefined =>
  typeof rule.limit === 'string' && rule.endsAt === undefined
    ? { ruleId: rule.id, field: 'endsAt', message: `${rule.limit} has no end` }
    : undefined;

const switchFindings = (draft: RuleSetDraft): RuleFinding[] =>
  DIMENSIONS.filter((dimension) => draft.dimensions[dimension] === 'off').map((dimension) => ({
    ruleId: '(rule set)',
    field: `dimensions.${dimension}`,
    message: `is off: no rule of this dimension applies, except BLOCK`,
  }));

/** What is legal but odd in a rule set. A warning never stops a change. */
export const warnRuleSet = (draft: RuleSetDraft): RuleFinding[] => {
  const caps = draft.rules.filter(isEnforcedCap);
  const generics = caps.filter(isGeneric);
  const specific = caps.filter((rule) => !isGeneric(rule) && rule.final !== true);
  return [
    ...switchFindings(draft),
    ...specific.flatMap((cap) => neverBinds(cap, generics) ?? []),
    ...specific.flatMap((cap) => looserThanGeneric(cap, generics) ?? []),
    ...draft.rules.flatMap((rule) => hasNoEnd(rule) ?? []),
  ];
};
