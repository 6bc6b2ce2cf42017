import { normaliseBrandKey, type Rule } from '@adcap/contracts';

/** The value that a rule names as it is looked up: one spelling for a brand (law 9). `undefined`: generic. */
export const valueOfRule = ({ dimension, value }: Rule): string | undefined =>
  value !== undefined && dimension === 'brand' ? normaliseBrandKey(value) : value;

/** One spelling for a `when`, whatever the order of its keys and values. `[]`: everywhere. */
export const whenKey = ({ when }: Rule): string =>
  when === undefined
    ? '[]'
    : JSON.stringify(
        Object.entries(when)
          .map(([key, values]) => [key, [...values].toSorted()] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      );

/** The rung and the value of a rule. */
export const rungKey = (rule: Rule): string => {
  const value = valueOfRule(rule);
  return `${rule.dimension}${value === undefined ? '' : `=${value}`}`;
};

/** Rules that meet on one rung at one value under the same `when`. */
export const meetingPlace = (rule: Rule, when: string = whenKey(rule)): string =>
  JSON.stringify([rungKey(rule), when]);
