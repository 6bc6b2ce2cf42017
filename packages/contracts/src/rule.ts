import { z } from 'zod';
import { DIMENSIONS } from './dimensions.ts';
import { instantSchema } from './instant.ts';

const UNIT_MS = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
const WINDOW = /^([1-9]\d{0,8})([smhd])$/;

/** `"90s" | "60m" | "24h" | "7d"` in milliseconds, or `undefined` where it is none of these. */
export const parseWindowMs = (window: string): number | undefined => {
  const [, count, unit = ''] = WINDOW.exec(window) ?? [];
  const unitMs = UNIT_MS.get(unit);
  return unitMs === undefined ? undefined : Number(count) * unitMs;
};

const quoteIt = 'must be a string: quote it (a bare long number or a bare OFF in YAML is something else)';
const text = z.string({ error: quoteIt }).min(1).max(256);

export const capLimitSchema = z.strictObject({
  max: z
    .number()
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(Number.MAX_SAFE_INTEGER)
    .describe('So many views are allowed'),
  window: z
    .string({ error: quoteIt })
    .refine(
      (value) => value === 'pod' || parseWindowMs(value) !== undefined,
      'must be like "90s", "60m", "24h", "7d", or "pod"',
    )
    .meta({
      pattern: '^([1-9][0-9]{0,8}[smhd]|pod)$',
      examples: ['90s', '60m', '24h', 'pod'],
      description: 'How far back views are counted, up to the retention; `pod`: within one pod',
    }),
});

export const whenSchema = z.record(text, z.array(text).min(1, 'must not be empty'));

/** A rule as ad operations write it; no value means generic. Unknown fields are refused. */
export const ruleSchema = z.strictObject({
  id: text.describe('Names the rule in answers, metrics and errors; unlike every other one of the set'),
  dimension: z.enum(DIMENSIONS).describe('What of an ad is counted'),
  value: text
    .optional()
    .describe('The one creative, campaign, brand or industry; without it every value is capped by itself'),
  limit: z.union([capLimitSchema, z.literal('OFF'), z.literal('BLOCK')], {
    error: (issue) =>
      typeof issue.input === 'boolean' ? quoteIt : 'must be { max, window }, "OFF" or "BLOCK"',
  }),
  final: z
    .boolean()
    .optional()
    .describe('Ends the walk down the ladder: no lower rung and no generic rule applies beside it'),
  when: whenSchema
    .optional()
    .describe('Where it applies: every key must be in the context of the request, with one of these values'),
  mode: z
    .enum(['enforce', 'shadow'])
    .optional()
    .describe('`shadow`: counted in metrics and explanations, and blocks nothing'),
  enabled: z.boolean().optional().describe('`false`: stays written down and does nothing'),
  startsAt: instantSchema.optional().describe('Applies to breaks from this instant on'),
  endsAt: instantSchema.optional().describe('Applies to breaks before this instant'),
  note: z.string().max(1_000).optional().describe('Why the rule is there'),
});

export type Rule = z.output<typeof ruleSchema>;

export const dimensionSwitchesSchema = z.strictObject({
  creative: z.enum(['on', 'off'], { error: quoteIt }).optional(),
  campaign: z.enum(['on', 'off'], { error: quoteIt }).optional(),
  brand: z.enum(['on', 'off'], { error: quoteIt }).optional(),
  industry: z.enum(['on', 'off'], { error: quoteIt }).optional(),
});

export type DimensionSwitches = z.output<typeof dimensionSwitchesSchema>;

/** What is written in a file or put over HTTP. */
export type RuleSetDraft = { dimensions: DimensionSwitches; rules: readonly Rule[] };

/** A rule set in force. */
export type RuleSet = RuleSetDraft & { version: number };

/** A version of the rules on the compacted topic and in Redis. `schema` rises when older code could not read it. */
export const rulesRecordSchema = z.object({
  schema: z.literal(1),
  version: z.number().int().min(1),
  dimensions: dimensionSwitchesSchema,
  rules: z.array(ruleSchema),
  author: z.string().max(256).optional(),
  note: z.string().max(1_000).optional(),
  publishedAt: z.number().int(),
});

export type RulesRecord = z.output<typeof rulesRecordSchema>;

/** Everything of a record but the rules, for whoever judges those one by one. */
export const rulesEnvelopeSchema = rulesRecordSchema.extend({ rules: z.array(z.unknown()) });

/** One thing wrong (or odd) in a rule set: which rule (by id, or its place where it has none), which field, what. */
export type RuleFinding = { ruleId: string; field: string; message: string };
