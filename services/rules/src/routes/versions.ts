import { DIMENSIONS, dimensionSwitchesSchema } from '@adcap/contracts';
import { diffRuleSets } from '@adcap/rule-engine';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import type { RouteDeps } from './route-deps.ts';
import { ruleListSchema } from './rule-set-schemas.ts';

const versionNumber = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be the number of a version')
  .transform(Number);

const headSchema = z.object({
  version: z.number().int(),
  author: z.string().optional().describe('The name of the token that made it, or its role'),
  note: z.string().optional(),
  publishedAt: z.number().int().describe('epoch ms'),
});

const state = z.enum(['on', 'off']);
const diffSchema = z.object({
  from: z.number().int(),
  to: z.number().int(),
  added: ruleListSchema,
  removed: ruleListSchema,
  changed: z.array(
    z.object({
      id: z.string(),
      fields: z
        .array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() }))
        .describe('null where the rule does not say it'),
    }),
  ),
  dimensions: z.array(z.object({ dimension: z.enum(DIMENSIONS), before: state, after: state })),
  isReordered: z
    .boolean()
    .describe('Rules of both stand in another order; on one rung the earlier one decides ties'),
});

const problems = { '4xx': problemSchema, '5xx': problemSchema } as const;
const security = [{ bearer: [] }];
const FRESH = { 'cache-control': 'no-cache' };

const addList = (server: HttpServer, { access, versions }: RouteDeps): void => {
  server.get(
    '/v1/rules/versions',
    {
      onRequest: access.read,
      schema: {
        tags: ['versions'],
        summary: 'The last 100 versions, newest first',
        security,
        response: {
          200: z.object({
            current: z.number().int().describe('The version in force'),
            versions: z.array(headSchema.extend({ ruleCount: z.number().int() })),
          }),
          ...problems,
        },
      },
    },
    async (_request, reply) => {
      const { version: current } = await versions.inForce();
      return reply.headers(FRESH).send({ current, versions: await versions.list() });
    },
  );
};

const addGet = (server: HttpServer, { access, versions }: RouteDeps): void => {
  server.get(
    '/v1/rules/versions/:version',
    {
      onRequest: access.read,
      schema: {
        tags: ['versions'],
        summary: 'The whole set of one version',
        security,
        params: z.object({ version: versionNumber }),
        response: {
          200: headSchema.extend({ dimensions: dimensionSwitchesSchema, rules: ruleListSchema }),
          ...problems,
        },
      },
    },
    async (request) => {
      const { schema: _schema, ...set } = await versions.get(request.params.version);
      return set;
    },
  );
};

const addDiff = (server: HttpServer, { access, versions }: RouteDeps): void => {
  server.get(
    '/v1/rules/diff',
    {
      onRequest: access.read,
      schema: {
        tags: ['versions'],
        summary: 'What changed between two versions',
        security,
        querystring: z.strictObject({
          from: versionNumber,
          to: versionNumber.optional().describe('The version in force where it is missing'),
        }),
        response: { 200: diffSchema, ...problems },
      },
    },
    async (request) => {
      const { from, to } = request.query;
      const before = await versions.get(from);
      const after = await (to === undefined ? versions.inForce() : versions.get(to));
      const { added, removed, changed, dimensions, isReordered } = diffRuleSets(before, after);
      return {
        from,
        to: after.version,
        added: [...added],
        removed: [...removed],
        changed: changed.map(({ id, fields }) => ({ id, fields: [...fields] })),
        dimensions: [...dimensions],
        isReordered,
      };
    },
  );
};

/** What was in force, and what changed. */
export const addVersionRoutes = (server: HttpServer, deps: RouteDeps): void => {
  addList(server, deps);
  addGet(server, deps);
  addDiff(server, deps);
};
