import { AppError, type RuleSetDraft } from '@adcap/contracts';
import { warnRuleSet } from '@adcap/rule-engine';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import { judgeBody } from '../judge-body.ts';
import { clientGone } from './preview-rules.ts';
import { MOST_DEVICES, type PreviewAnswer, previewAnswer, previewSchema } from './preview-schemas.ts';
import type { RouteDeps } from './route-deps.ts';
import { findingsSchema, ruleSetBodySchema } from './rule-set-schemas.ts';

const querySchema = z.object({
  preview: z.enum(['true', 'false']).optional().describe('Whether it is tried on what was watched, too'),
});

type Previewed = { preview?: PreviewAnswer; previewReason?: 'busy' | 'store_unavailable' };

/** Whoever validates is answered whatever becomes of the preview. */
const previewed = async (
  { preview }: RouteDeps,
  draft: RuleSetDraft,
  signal: AbortSignal,
): Promise<Previewed> => {
  try {
    return {
      preview: previewAnswer(await preview({ draft, sample: MOST_DEVICES, since: undefined, signal })),
    };
  } catch (error) {
    const code = error instanceof AppError ? error.code : undefined;
    if (code === 'ADCAP_RULES_PREVIEW_BUSY') return { previewReason: 'busy' };
    if (code === 'ADCAP_STORE_UNAVAILABLE') return { previewReason: 'store_unavailable' };
    throw error;
  }
};

export const addValidateRulesRoute = (server: HttpServer, deps: RouteDeps): void => {
  server.post(
    '/v1/rules/validate',
    {
      onRequest: deps.access.read,
      schema: {
        tags: ['rules'],
        summary: 'What is wrong, and what is odd, in a rule set; nothing is changed',
        security: [{ bearer: [] }],
        querystring: querySchema,
        body: ruleSetBodySchema,
        response: {
          200: z.object({
            errors: findingsSchema,
            warnings: findingsSchema.describe('Those of the preview among them'),
            preview: previewSchema.optional(),
            previewReason: z
              .enum(['busy', 'store_unavailable'])
              .optional()
              .describe('Why there is no preview although one was asked for'),
          }),
          '4xx': problemSchema,
        },
      },
    },
    async (request, reply) => {
      const judged = judgeBody(request.body, deps.bounds);
      if (!judged.ok) return { errors: [...judged.errors], warnings: [] };
      const told =
        request.query.preview === 'true' ? await previewed(deps, judged.draft, clientGone(reply)) : {};
      const warnings = [
        ...warnRuleSet(judged.draft, { nowMs: deps.clock.nowMs() }),
        ...(told.preview?.warnings ?? []),
      ];
      return { errors: [], warnings, ...told };
    },
  );
};
