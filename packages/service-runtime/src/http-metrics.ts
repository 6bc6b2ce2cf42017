import type { FastifyReply, FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

/** Fine below the 50 ms that a caller gives a decision, coarse above. */
const BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.1, 0.25, 1, 5];

/** Measures every answered request by the pattern of its route, never by its path: ids are not labels. */
export const createHttpMetrics = (registry: Registry) => {
  const duration = new Histogram({
    name: 'adcap_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer, by route pattern, method and status class',
    labelNames: ['route', 'method', 'status_class'] as const,
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const route = request.routeOptions.url ?? 'none';
    const status_class = `${Math.floor(reply.statusCode / 100)}xx`;
    duration.observe({ route, method: request.method, status_class }, reply.elapsedTime / 1_000);
  };
};
