import type { HttpServer } from '@adcap/service-runtime';
import { z } from 'zod';
import { restore } from '../domain/edit-rules.ts';
import { changeProblems, changeRules, ifMatchHeader, noteOf, noteQuery } from './changing.ts';
import type { RouteDeps } from './route-deps.ts';
import { ruleSetAnswer, ruleSetAnswerSchema } from './rule-set-schemas.ts';

const bodySchema = z.strictObject({
  version: z.number().int().min(1).describe('The version to go back to'),
  note: noteQuery.shape.note,
});

const targetOf = (body: unknown): string => {
  const parsed = bodySchema.safeParse(body);
  return parsed.success ? `version:${parsed.data.version}` : 'rules';
};

export const addRollbackRoute = (server: HttpServer, deps: RouteDeps): void => {
  server.post(
    '/v1/rules/rollback',
    {
      onRequest: deps.access.write,
      onSend: deps.audit.onSend('rules.rollback', ({ body }) => targetOf(body)),
      schema: {
        tags: ['versions'],
        summary: 'Make a new version that is equal to an earlier one',
        security: [{ bearer: [] }],
        headers: ifMatchHeader,
        body: bodySchema,
        response: { 200: ruleSetAnswerSchema, ...changeProblems },
      },
    },
    async (request, reply) => {
      const { version, note } = request.body;
      return changeRules(
        deps,
        { request, reply },
        {
          prepare: async () => ({
            edit: restore(await deps.versions.get(version), deps.bounds),
            note: noteOf(`rollback to version ${version}`, note),
          }),
          tell: ruleSetAnswer,
        },
      );
    },
  );
};
