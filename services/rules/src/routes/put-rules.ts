import type { HttpServer } from '@adcap/service-runtime';
import { invalidRules } from '../domain/edit-rules.ts';
import { judgeBody } from '../judge-body.ts';
import { changeProblems, changeRules, ifMatchHeader } from './changing.ts';
import type { RouteDeps } from './route-deps.ts';
import { ruleSetAnswer, ruleSetAnswerSchema, ruleSetBodySchema } from './rule-set-schemas.ts';

export const addPutRulesRoute = (server: HttpServer, deps: RouteDeps): void => {
  server.put(
    '/v1/rules',
    {
      onRequest: deps.access.write,
      onSend: deps.audit.onSend('rules.replace', () => 'rules'),
      schema: {
        tags: ['rules'],
        summary: 'Replace the whole rule set',
        security: [{ bearer: [] }],
        headers: ifMatchHeader,
        body: ruleSetBodySchema,
        response: { 200: ruleSetAnswerSchema, ...changeProblems },
      },
    },
    async (request, reply) =>
      changeRules(
        deps,
        { request, reply },
        {
          prepare: () => {
            const judged = judgeBody(request.body, deps.bounds);
            if (!judged.ok) throw invalidRules(judged.errors);
            return { edit: () => judged.draft, note: judged.note };
          },
          tell: ruleSetAnswer,
        },
      ),
  );
};
