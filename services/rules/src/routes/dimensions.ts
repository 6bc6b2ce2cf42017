import { DIMENSIONS, dimensionSwitchesSchema } from '@adcap/contracts';
import type { HttpServer } from '@adcap/service-runtime';
import { z } from 'zod';
import { switchDimension } from '../domain/edit-rules.ts';
import { changeProblems, changeRules, ifMatchHeader, noteOf, noteQuery } from './changing.ts';
import type { RouteDeps } from './route-deps.ts';

const paramsSchema = z.object({ dimension: z.enum(DIMENSIONS) });

const dimensionOf = (params: unknown): string => {
  const parsed = paramsSchema.safeParse(params);
  return parsed.success ? `dimension:${parsed.data.dimension}` : 'rules';
};

export const addDimensionRoute = (server: HttpServer, deps: RouteDeps): void => {
  server.put(
    '/v1/dimensions/:dimension',
    {
      onRequest: deps.access.write,
      onSend: deps.audit.onSend('rules.switch', ({ params }) => dimensionOf(params)),
      schema: {
        tags: ['rules'],
        summary: 'Switch the rules of a dimension off or on again; they stay written down',
        security: [{ bearer: [] }],
        params: paramsSchema,
        headers: ifMatchHeader,
        querystring: noteQuery,
        body: z.strictObject({ state: z.enum(['on', 'off']) }),
        response: {
          200: z.object({
            version: z.number().int(),
            dimension: z.enum(DIMENSIONS),
            state: z.enum(['on', 'off']),
            dimensions: dimensionSwitchesSchema,
          }),
          ...changeProblems,
        },
      },
    },
    async (request, reply) => {
      const { dimension } = request.params;
      const { state } = request.body;
      return changeRules(
        deps,
        { request, reply },
        {
          prepare: () => ({
            edit: switchDimension(dimension, state, deps.bounds),
            note: noteOf(`dimension ${dimension} ${state}`, request.query.note),
          }),
          tell: ({ version, dimensions }) => ({ version, dimension, state, dimensions }),
        },
      );
    },
  );
};
