import { idText, isUnfilled, queryInstantSchema } from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import { createTimeline } from '@adcap/rule-engine';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import { reportCaps } from '../domain/device-report.ts';
import { documented } from './documented.ts';
import type { RouteDeps } from './route-deps.ts';

const paramsSchema = z.object({
  deviceId: idText.refine((value) => !isUnfilled(value), 'is empty or an unfilled macro'),
});
const querySchema = z.object({
  at: queryInstantSchema.optional().describe('The instant to look at; now where it is missing'),
});

const instant = z.number().int().describe('epoch ms');

const reportSchema = z.object({
  deviceId: z.string(),
  at: instant,
  serverTime: instant,
  erasedAt: instant.optional(),
  rulesVersion: z.number().int().nullable(),
  history: z.array(z.looseObject({ creativeId: z.string(), at: instant })).describe('Oldest first'),
  window: z.object({ count: z.number().int(), newestAt: instant.nullable() }),
  reservations: z.array(
    z.object({ id: z.string(), slot: z.number().int(), breakAt: instant, expiresAt: instant }),
  ),
  caps: z.array(z.looseObject({ ruleId: z.string(), value: z.string(), remaining: z.number().int() })),
});

/** What an operator sees of one device. */
export const addDeviceRoutes = (server: HttpServer, deps: RouteDeps): void => {
  const onRequest = deps.requireOperator;

  server.get(
    '/v1/devices/:deviceId',
    {
      onRequest,
      schema: {
        tags: ['devices'],
        summary: 'What is known of a device, and where its caps stand at an instant',
        params: paramsSchema,
        querystring: querySchema,
        security: [{ bearer: [] }],
        response: { 200: documented(reportSchema), '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request) => {
      const { history, window, reservations, nowMs, erasedAt } = await deps.store.inspect(
        request.params.deviceId,
      );
      const at = request.query.at ?? nowMs;
      const rules = deps.rules();
      const known = { watched: createTimeline(window), reserved: createTimeline(reservations) };
      return {
        deviceId: request.params.deviceId,
        at,
        serverTime: nowMs,
        erasedAt,
        rulesVersion: rules?.version ?? null,
        history,
        window: { count: window.length, newestAt: window.at(-1)?.at ?? null },
        reservations: reservations.map(({ id, slot, at: breakAt, expiresAt }) => ({
          id,
          slot,
          breakAt,
          expiresAt,
        })),
        caps: rules === undefined ? [] : reportCaps(rules, history, { at, known, keyOf: valueKeyOf }),
      };
    },
  );

  server.delete(
    '/v1/devices/:deviceId',
    {
      onRequest,
      schema: {
        tags: ['devices'],
        summary: 'Erase a device; what was received before stays erased',
        params: paramsSchema,
        security: [{ bearer: [] }],
        response: { 204: z.void(), '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request, reply) => {
      await deps.store.erase(request.params.deviceId);
      return reply.code(204).send();
    },
  );
};
