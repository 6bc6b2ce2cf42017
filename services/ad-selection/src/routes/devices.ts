import { DIMENSIONS, type EpochMs, idText, isUnfilled, queryInstantSchema } from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import type { DeviceInspection } from '@adcap/redis-windows';
import type { CompiledRules } from '@adcap/rule-engine';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import { countedImpressions } from '../adapters/counted-impressions.ts';
import { reportDevice } from '../domain/device-report.ts';
import { deviceTarget } from './device-target.ts';
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
  rulesVersion: z.number().int().nullable().describe('The rules that caps and ads are judged by'),
  rulesInForce: z
    .boolean()
    .describe(
      'Whether these rules were in force at that instant; false where that version is not known (any more) and those of now are used',
    ),
  asOf: instant
    .nullable()
    .describe('The receive time up to which impressions of the device’s partition had been applied'),
  history: z.array(z.looseObject({ creativeId: z.string(), at: instant })).describe('Oldest first'),
  window: z.object({ count: z.number().int(), newestAt: instant.nullable() }),
  reservations: z.array(
    z.object({ id: z.string(), slot: z.number().int(), breakAt: instant, expiresAt: instant }),
  ),
  caps: z
    .array(
      z.object({
        ruleId: z.string(),
        dimension: z.enum(DIMENSIONS),
        value: z.string(),
        max: z.number().int(),
        windowMs: z.number().int(),
        used: z.number().int(),
        reserved: z.number().int(),
        remaining: z.number().int(),
        at: instant.describe('The instant that decides: the one asked about, or a later reserved one'),
        impressions: z
          .array(z.object({ at: instant, creativeId: z.string().nullable() }))
          .describe(
            'What is used, oldest first; creativeId is null where the history does not have it (yet)',
          ),
        reservations: z
          .array(z.object({ id: z.string(), slot: z.number().int(), breakAt: instant }))
          .describe('What is reserved: live now, in the window by its break'),
      }),
    )
    .describe('Caps with a window on what was watched, each value once'),
  ads: z
    .array(
      z.looseObject({
        creativeId: z.string(),
        allowed: z.boolean(),
        remaining: z.number().int().nullable(),
        nextAllowedAt: instant.optional(),
        rules: z
          .array(z.record(z.string(), z.unknown()))
          .describe(
            'Every rule that names the ad, as `explain` tells it. Rules with `when` are when_does_not_fit: there is no context to judge them by',
          ),
      }),
    )
    .describe('The ads that the history has, each once: whether one more would fit'),
});

/** What has not happened yet is judged by the rules of now; so is what happened under rules that are not known. */
const rulesAt = (
  { rules, rulesAt: inForceAt }: Pick<RouteDeps, 'rules' | 'rulesAt'>,
  at: EpochMs,
  nowMs: EpochMs,
): { rules: CompiledRules | undefined; rulesInForce: boolean } => {
  const inForce = at >= nowMs ? rules() : inForceAt(at);
  return { rules: inForce ?? rules(), rulesInForce: inForce !== undefined };
};

const judgedBy = (
  { rules, rulesInForce }: ReturnType<typeof rulesAt>,
  inspection: DeviceInspection,
  at: EpochMs,
) => ({
  rulesVersion: rules?.version ?? null,
  rulesInForce,
  ...(rules === undefined
    ? { caps: [], ads: [] }
    : reportDevice(rules, inspection.history, {
        at,
        keyOf: valueKeyOf,
        counted: countedImpressions(inspection),
        reservations: inspection.reservations,
      })),
});

/** By its tag alone: the trail is kept longer than the device may be. */
const targetOf = ({ params }: { params: unknown }): string => {
  const parsed = paramsSchema.safeParse(params);
  return parsed.success ? deviceTarget(parsed.data.deviceId) : 'device:?';
};

/** What an operator sees of one device. */
export const addDeviceRoutes = (server: HttpServer, deps: RouteDeps): void => {
  const onRequest = deps.requireOperator;

  server.get(
    '/v1/devices/:deviceId',
    {
      onRequest,
      onSend: deps.audit.onSend('device.read', targetOf),
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
      const { deviceId } = request.params;
      const inspection = await deps.store.inspect(deviceId);
      const { history, window, reservations, nowMs: serverTime, erasedAt } = inspection;
      const at = request.query.at ?? serverTime;
      return {
        deviceId,
        at,
        serverTime,
        erasedAt,
        asOf: deps.asOf(request.params.deviceId, 'quotas') ?? null,
        history,
        window: { count: window.length, newestAt: window.at(-1)?.at ?? null },
        reservations: reservations.map(({ id, slot, at: breakAt, expiresAt }) => ({
          id,
          slot,
          breakAt,
          expiresAt,
        })),
        ...judgedBy(rulesAt(deps, at, serverTime), inspection, at),
      };
    },
  );

  server.delete(
    '/v1/devices/:deviceId',
    {
      onRequest,
      onSend: deps.audit.onSend('device.erase', targetOf),
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
