import { dimensionSwitchesSchema, type RulesRecord, ruleSchema } from '@adcap/contracts';
import { problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';

const ruleJson = z.toJSONSchema(ruleSchema, { io: 'input', unrepresentable: 'any' });
const rule = z.unknown().meta({ ...ruleJson });

export const ruleListSchema = z.array(rule);

/** Judged by the laws of rules and not by this, as sets are. */
export const ruleBodySchema = rule;

/** Judged by the laws of rules and not by this, so that every error names its rule; it says what a set looks like. */
export const ruleSetBodySchema = z.unknown().meta({
  type: 'object',
  required: ['rules'],
  properties: {
    dimensions: { ...z.toJSONSchema(dimensionSwitchesSchema, { io: 'input', unrepresentable: 'any' }) },
    rules: { type: 'array', items: { ...ruleJson } },
    note: { type: 'string', maxLength: 1_000 },
  },
});

export const ruleSetAnswerSchema = z.object({
  version: z.number().int(),
  dimensions: dimensionSwitchesSchema,
  rules: ruleListSchema,
});

export const ruleChangeAnswerSchema = z.object({ version: z.number().int(), rule });

export const findingsSchema = z.array(
  z.object({
    ruleId: z.string().describe('The rule by its id, by its place where it has none, or (rule set)'),
    field: z.string(),
    message: z.string(),
  }),
);

export const rulesProblemSchema = problemSchema.extend({ errors: findingsSchema.optional() });

export const ruleSetAnswer = ({ version, dimensions, rules: list }: RulesRecord) => ({
  version,
  dimensions,
  rules: list,
});

export const etagOf = ({ version }: RulesRecord): string => `"${version}"`;
