import type { RulesRecord } from '@adcap/contracts';
import type { HttpServer } from '@adcap/service-runtime';
import { z } from 'zod';
import { addRule, invalidRules, removeRule, replaceRule } from '../domain/edit-rules.ts';
import { judgeRule } from '../domain/judge-rule.ts';
import { changeProblems, changeRules, ifMatchHeader, noteOf, noteQuery } from './changing.ts';
import type { RouteDeps } from './route-deps.ts';
import { ruleBodySchema, ruleChangeAnswerSchema } from './rule-set-schemas.ts';

const params = z.object({ id: z.string().min(1).max(256) });

const answered =
  (id: string) =>
  ({ version, rules }: RulesRecord) => ({
    version,
    rule: rules.find((rule) => rule.id === id),
  });

const targetOf = (id: unknown): string => (typeof id === 'string' ? `rule:${id}` : 'rules');

const idIn = (part: unknown): unknown =>
  typeof part === 'object' && part !== null && 'id' in part ? part.id : undefined;

const security = [{ bearer: [] }];

const addPost = (server: HttpServer, deps: RouteDeps): void => {
  server.post(
    '/v1/rules',
    {
      onRequest: deps.access.write,
      onSend: deps.audit.onSend('rules.add', ({ body }) => targetOf(idIn(body))),
      schema: {
        tags: ['rules'],
        summary: 'Add one rule, as the last of the set',
        security,
        headers: ifMatchHeader,
        querystring: noteQuery,
        body: ruleBodySchema,
        response: { 201: ruleChangeAnswerSchema, ...changeProblems },
      },
    },
    async (request, reply) => {
      let id = '';
      return changeRules(
        deps,
        { request, reply },
        {
          prepare: () => {
            const judged = judgeRule(request.body, deps.bounds);
            if (!judged.ok) throw invalidRules(judged.errors);
            ({ id } = judged.rule);
            return {
              edit: addRule(judged.rule, deps.bounds),
              note: noteOf(`rule ${id} added`, request.query.note),
            };
          },
          tell: (record) => {
            reply.code(201);
            return answered(id)(record);
          },
        },
      );
    },
  );
};

const addPut = (server: HttpServer, deps: RouteDeps): void => {
  server.put(
    '/v1/rules/:id',
    {
      onRequest: deps.access.write,
      onSend: deps.audit.onSend('rules.edit', ({ params: path }) => targetOf(idIn(path))),
      schema: {
        tags: ['rules'],
        summary: 'Replace one rule, in its place',
        security,
        params,
        headers: ifMatchHeader,
        querystring: noteQuery,
        body: ruleBodySchema,
        response: { 200: ruleChangeAnswerSchema, ...changeProblems },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      return changeRules(
        deps,
        { request, reply },
        {
          prepare: () => {
            const judged = judgeRule(request.body, deps.bounds, id);
            if (!judged.ok) throw invalidRules(judged.errors);
            return {
              edit: replaceRule(judged.rule, deps.bounds),
              note: noteOf(`rule ${id} replaced`, request.query.note),
            };
          },
          tell: answered(id),
        },
      );
    },
  );
};

const addDelete = (server: HttpServer, deps: RouteDeps): void => {
  server.delete(
    '/v1/rules/:id',
    {
      onRequest: deps.access.write,
      onSend: deps.audit.onSend('rules.remove', ({ params: path }) => targetOf(idIn(path))),
      schema: {
        tags: ['rules'],
        summary: 'Remove one rule; the answer has what was removed',
        security,
        params,
        headers: ifMatchHeader,
        querystring: noteQuery,
        response: { 200: ruleChangeAnswerSchema, ...changeProblems },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const remove = removeRule(id, deps.bounds);
      let removed: unknown;
      return changeRules(
        deps,
        { request, reply },
        {
          prepare: () => ({
            edit: (before) => {
              removed = before.rules.find((rule) => rule.id === id);
              return remove(before);
            },
            note: noteOf(`rule ${id} removed`, request.query.note),
          }),
          tell: ({ version }) => ({ version, rule: removed }),
        },
      );
    },
  );
};

/** One rule at a time: each makes a whole new version. */
export const addSingleRuleRoutes = (server: HttpServer, deps: RouteDeps): void => {
  addPost(server, deps);
  addPut(server, deps);
  addDelete(server, deps);
};
