import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import type { RouteDeps } from './route-deps.ts';
import { etagOf, ruleSetAnswer, ruleSetAnswerSchema } from './rule-set-schemas.ts';

export const addGetRulesRoute = (server: HttpServer, { access, versions }: RouteDeps): void => {
  server.get(
    '/v1/rules',
    {
      onRequest: access.read,
      schema: {
        tags: ['rules'],
        summary: 'The rules in force',
        security: [{ bearer: [] }],
        response: { 200: ruleSetAnswerSchema, '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (_request, reply) => {
      const record = await versions.inForce();
      return reply.headers({ etag: etagOf(record), 'cache-control': 'no-cache' }).send(ruleSetAnswer(record));
    },
  );
};
