import { warnRuleSet } from '@adcap/rule-engine';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import { judgeBody } from '../judge-body.ts';
import type { RouteDeps } from './route-deps.ts';
import { findingsSchema, ruleSetBodySchema } from './rule-set-schemas.ts';

export const addValidateRulesRoute = (server: HttpServer, { access, bounds }: RouteDeps): void => {
  server.post(
    '/v1/rules/validate',
    {
      onRequest: access.read,
      schema: {
        tags: ['rules'],
        summary: 'What is wrong, and what is odd, in a rule set; nothing is changed',
        security: [{ bearer: [] }],
        body: ruleSetBodySchema,
        response: {
          200: z.object({ errors: findingsSchema, warnings: findingsSchema }),
          '4xx': problemSchema,
        },
      },
    },
    async (request) => {
      const judged = judgeBody(request.body, bounds);
      return judged.ok
        ? { errors: [], warnings: warnRuleSet(judged.draft) }
        : { errors: [...judged.errors], warnings: [] };
    },
  );
};
