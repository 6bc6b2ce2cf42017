import { AppError, type EpochMs, epochMs, instantSchema } from '@adcap/contracts';
import { type AccessHook, type AuditTrail, type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import { SWITCHES, type Switches } from '../adapters/switches.ts';
import { documented } from './documented.ts';

export type SwitchRouteDeps = {
  switches: Switches;
  nowMs: () => EpochMs;
  requireOperator: AccessHook;
  audit: AuditTrail;
};

/** A switch that is forgotten must not outlive the day. */
const LONGEST_MS = 86_400_000;

const paramsSchema = z.object({ name: z.enum(SWITCHES) });

const targetOf = ({ params }: { params: unknown }): string => {
  const parsed = paramsSchema.safeParse(params);
  return `switch:${parsed.success ? parsed.data.name : '?'}`;
};

const bodySchema = z.strictObject({
  forMs: z.number().int().min(1).max(LONGEST_MS).optional().describe('How long from now on'),
  until: instantSchema.optional().describe('Epoch ms or ISO 8601 with a zone; at most 24 hours ahead'),
});

const stateSchema = z.object({
  name: z.enum(SWITCHES),
  on: z.boolean(),
  until: z.number().int().nullable().describe('epoch ms; null while it is off'),
});
const changedSchema = stateSchema.extend({
  shared: z
    .boolean()
    .describe(
      'Whether the other instances can know of it yet; if not, they are told as soon as Redis is back',
    ),
});

const refuse = (field: string, message: string): AppError =>
  new AppError('ADCAP_REQUEST_INVALID', `${field}: ${message}`, { fields: [{ field, message }] });

/** When the switch ends by itself. */
const endOf = ({ forMs, until }: z.output<typeof bodySchema>, nowMs: EpochMs): EpochMs => {
  if (forMs !== undefined && until !== undefined) throw refuse('until', 'is one too many beside forMs');
  if (forMs !== undefined) return epochMs(nowMs + forMs);
  if (until === undefined) throw refuse('forMs', 'is missing, and so is until');
  if (until <= nowMs) throw refuse('until', 'must lie ahead');
  if (until > nowMs + LONGEST_MS) throw refuse('until', 'must be at most 24 hours ahead');
  return until;
};

/** Operator switches: they act without a restart, in every instance, and end by themselves. */
export const addSwitchRoutes = (server: HttpServer, deps: SwitchRouteDeps): void => {
  const { switches, nowMs, audit, requireOperator: onRequest } = deps;
  const common = { tags: ['switches'], security: [{ bearer: [] }] };
  const errors = { '4xx': problemSchema, '5xx': problemSchema };
  const stateOf = (name: (typeof SWITCHES)[number]) =>
    switches.list().find((one) => one.name === name) ?? { name, on: false, until: null };

  server.get(
    '/v1/switches',
    {
      onRequest,
      schema: {
        ...common,
        summary: 'Which operator switches there are, and which are on until when',
        response: {
          200: documented(z.object({ serverTime: z.number().int(), switches: z.array(stateSchema) })),
          ...errors,
        },
      },
    },
    async () => ({ serverTime: nowMs(), switches: switches.list() }),
  );

  server.put(
    '/v1/switches/:name',
    {
      onRequest,
      onSend: audit.onSend('switch.set', targetOf),
      schema: {
        ...common,
        summary: 'Turn a switch on for a time, or until an instant',
        params: paramsSchema,
        body: bodySchema,
        response: { 200: documented(changedSchema), ...errors },
      },
    },
    async (request) => {
      const { name } = request.params;
      const shared = await switches.change(name, endOf(request.body, nowMs()));
      return { ...stateOf(name), shared };
    },
  );

  server.delete(
    '/v1/switches/:name',
    {
      onRequest,
      onSend: audit.onSend('switch.clear', targetOf),
      schema: {
        ...common,
        summary: 'Turn a switch off, also where it is off',
        params: paramsSchema,
        response: { 200: documented(changedSchema), ...errors },
      },
    },
    async (request) => {
      const { name } = request.params;
      const shared = await switches.change(name, null);
      return { ...stateOf(name), shared };
    },
  );
};
