import type { Rule } from '@adcap/contracts';
import type { FieldChange, RuleSetDiff } from '@adcap/rule-engine';

const limitText = (limit: Rule['limit']): string =>
  typeof limit === 'string' ? limit : `${limit.max}/${limit.window}`;

const isLimit = (value: unknown): value is Rule['limit'] =>
  typeof value === 'string' || (typeof value === 'object' && value !== null && 'max' in value);

const INSTANTS = new Set(['startsAt', 'endsAt']);

const valueText = (field: string, value: unknown): string => {
  if (value === null || value === undefined) return '–';
  if (field === 'limit' && isLimit(value)) return limitText(value);
  if (INSTANTS.has(field) && typeof value === 'number') return new Date(value).toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const ruleText = ({ id, dimension, value, limit, ...rest }: Rule): string => {
  const more = Object.entries(rest)
    .filter(([field, given]) => given !== undefined && field !== 'note')
    .map(([field, given]) => `, ${field} ${valueText(field, given)}`);
  return `rule ${id}: ${dimension} ${value ?? '(every one)'} ${limitText(limit)}${more.join('')}`;
};

const fieldLine = ({ field, before, after }: FieldChange): string =>
  `    ${field}: ${valueText(field, before)} → ${valueText(field, after)}`;

/** A change as people read it, a line for each thing; no line where nothing would change. */
export const diffLines = ({ added, removed, changed, dimensions, isReordered }: RuleSetDiff): string[] => [
  ...dimensions.map(({ dimension, before, after }) => `~ dimension ${dimension}: ${before} → ${after}`),
  ...removed.map((rule) => `- ${ruleText(rule)}`),
  ...added.map((rule) => `+ ${ruleText(rule)}`),
  ...changed.flatMap(({ id, fields }) => [`~ rule ${id}`, ...fields.map(fieldLine)]),
  ...(isReordered ? ['~ the order of the rules, which decides ties within a rung'] : []),
];
