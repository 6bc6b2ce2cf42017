import {
  contextSchema,
  epochMs,
  industryIds,
  optionalBrandId,
  optionalId,
  queryInstantSchema,
  requiredId,
} from '@adcap/contracts';
import { commaList, type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import { effectiveLadder } from '../domain/effective-ladder.ts';
import type { RouteDeps } from './route-deps.ts';

const CONTEXT = 'context.';

const isContext = (name: string): boolean => name.startsWith(CONTEXT) && name !== CONTEXT;

const contextOf = (query: Readonly<Record<string, string>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(query).map(([name, values]) => [name.slice(CONTEXT.length), commaList.parse(values)]),
  );

/** `context.<name>=a,b` beside the ad; a name that is none of these is refused, so that no misspelt one is passed over. */
const querySchema = z
  .object({
    creativeId: requiredId,
    campaignId: optionalId,
    brandId: optionalBrandId,
    industryIds: commaList
      .optional()
      .transform((ids): string[] | null | undefined => ids)
      .pipe(industryIds)
      .describe('separated by commas'),
    at: queryInstantSchema.optional().describe('The break’s instant; now where it is missing'),
  })
  .catchall(z.string())
  .transform(({ creativeId, campaignId, brandId, industryIds: industries, at, ...others }, ctx) => {
    const unknown = Object.keys(others).filter((name) => !isContext(name));
    const context = contextSchema.safeParse(contextOf(others));
    for (const name of unknown)
      ctx.addIssue({ code: 'custom', path: [name], message: 'is not a known field' });
    for (const issue of context.error?.issues ?? []) ctx.addIssue({ ...issue, path: ['context'] });
    if (unknown.length > 0 || !context.success) return z.NEVER;
    const names = { creativeId, campaignId, brandId, industryIds: industries };
    return { names, at, context: context.data };
  });

const answerSchema = z.object({
  version: z.number().int(),
  at: z.number().int().describe('epoch ms'),
  blockedBy: z.string().nullable().describe('The BLOCK that means never'),
  caps: z
    .array(z.object({ ruleId: z.string(), value: z.string() }))
    .describe('The caps that apply, in the order in which ties are decided'),
  rules: z
    .array(
      z.looseObject({
        ruleId: z.string(),
        rung: z.string(),
        value: z.string(),
        limit: z.enum(['cap', 'off', 'block']),
        fate: z.string().describe('applies, or why it does not; hidden: by the BLOCK'),
        because: z.string().optional().describe('The rule that replaced, ended or hides it'),
      }),
    )
    .describe('Every rule that names the ad, from the highest rung down'),
});

export const addEffectiveRoute = (server: HttpServer, { access, versions, clock }: RouteDeps): void => {
  server.get(
    '/v1/rules/effective',
    {
      onRequest: access.read,
      schema: {
        tags: ['rules'],
        summary: 'The ladder of an ad: which rules apply at an instant, and what became of the others',
        description: 'The context is told as `context.<name>=value`, several values separated by commas.',
        security: [{ bearer: [] }],
        querystring: querySchema,
        response: { 200: answerSchema, '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request) => {
      const { at = epochMs(clock.nowMs()), context, names } = request.query;
      const rules = await versions.inForce();
      return { version: rules.version, at, ...effectiveLadder(rules, names, { at, context }) };
    },
  );
};
