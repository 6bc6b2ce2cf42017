import {
  type ReservationRequest,
  type ReservationsAnswer,
  releaseRequestSchema,
  reservationRequestSchema,
  reservationsAnswerSchema,
} from '@adcap/contracts';
import { breakKeyOf, valueKeyOf } from '@adcap/identity';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import type { Ask } from '../domain/ask.ts';
import { assertBreakTime } from '../domain/break-time.ts';
import { toEntries } from '../domain/to-entries.ts';
import { documented } from './documented.ts';
import type { RouteDeps } from './route-deps.ts';

/** What the caller chose: item i is for slot i + 1. */
const toAsk = (request: ReservationRequest): Ask => ({
  deviceId: request.deviceId,
  sessionId: request.sessionId,
  breakId: request.breakId,
  round: request.round,
  breakAt: request.breakAt,
  context: request.context,
  slots: request.items.map(() => ({})),
  podDurationMs: undefined,
  reserve: true,
  isFixed: true,
  explain: 'nothing',
  entries: toEntries(request.items, valueKeyOf),
});

export const addReservationRoutes = (server: HttpServer, deps: RouteDeps): void => {
  server.post(
    '/v1/reservations',
    {
      schema: {
        tags: ['reservations'],
        summary: 'Reserve a pod that the caller has filled itself',
        body: reservationRequestSchema,
        response: { 200: documented(reservationsAnswerSchema), '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request): Promise<ReservationsAnswer> => {
      const { breakAt, deadlineMs } = request.body;
      assertBreakTime(breakAt, { nowMs: deps.nowMs(), retentionMs: deps.retentionMs });
      const {
        candidates,
        pod,
        unfilled: _unfilled,
        emptySlots: _emptySlots,
        ...answer
      } = await deps.decider.decide(toAsk(request.body), deadlineMs);
      return { ...answer, granted: pod, refused: candidates.filter(({ outcome }) => outcome !== 'placed') };
    },
  );

  server.post(
    '/v1/reservations/release',
    {
      schema: {
        tags: ['reservations'],
        summary: 'Forget a break and give back what it holds; also when there is nothing',
        body: releaseRequestSchema,
        response: { 204: z.void(), '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request, reply) => {
      const { deviceId, sessionId, breakId } = request.body;
      if (deviceId !== undefined)
        await deps.store.release({ deviceId, breakKey: breakKeyOf(sessionId, breakId) });
      return reply.code(204).send();
    },
  );
};
