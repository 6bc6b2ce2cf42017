import { dimensionSwitchesSchema, ruleSchema } from '@adcap/contracts';
import { z } from 'zod';

const schemaOf = (of: z.ZodType): object => {
  const { $schema: _, ...schema } = z.toJSONSchema(of, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
  });
  return schema;
};

/** A rule of which this holds must name its value. */
const needsValueIf = (properties: Record<string, object>): object => ({
  if: { properties, required: Object.keys(properties) },
  // oxlint-disable-next-line no-thenable -- the word of JSON Schema; nobody awaits it
  then: { required: ['value'] },
});

/** Law 4 where one rule alone breaks it. What only shows among several is for `adcap rules validate`. */
const LAWS = [needsValueIf({ limit: { type: 'string' } }), needsValueIf({ final: { const: true } })];

/** What an editor needs to complete and to underline a rule set that is kept as YAML. */
export const rulesSchema = (): string =>
  `${JSON.stringify(
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $comment: 'Made by `pnpm gen` from packages/contracts; change that.',
      title: 'adcap rule set',
      description: 'At most so many views per window, by creative, campaign, brand and industry',
      type: 'object',
      additionalProperties: false,
      required: ['rules'],
      properties: {
        dimensions: {
          ...schemaOf(dimensionSwitchesSchema),
          description: 'Dimensions that are switched off: none of their rules applies, except BLOCK',
        },
        rules: { type: 'array', items: { ...schemaOf(ruleSchema), allOf: LAWS } },
      },
    },
    null,
    2,
  )}\n`;
