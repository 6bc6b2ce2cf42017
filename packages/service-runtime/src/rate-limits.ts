import { AppError } from '@adcap/contracts';
import fastifyRateLimit from '@fastify/rate-limit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { AccessHook } from './bearer-roles.ts';
import type { HttpServer } from './http-server.ts';

export type RateLimitOptions = {
  /** Requests a minute of one address (of one /64 in IPv6), of everybody behind it together. */
  perPeer: number;
  /** Requests a minute of one bearer, wherever they come from. */
  perActor: number;
  registry: Registry;
};

export type RateLimits = {
  /** The hook with its limits: an address's before it, so that guessing is bounded, a bearer's after it. */
  around: (access: AccessHook) => AccessHook;
};

const MINUTE_MS = 60_000;

type Limiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Limits of one process, kept in memory: every replica gives as much. Refuses with 429 and Retry-After. */
export const createRateLimits = async (
  server: HttpServer,
  options: RateLimitOptions,
): Promise<RateLimits> => {
  await server.register(fastifyRateLimit, { global: false });
  const refused = new Counter({
    name: 'adcap_http_rate_limited_total',
    help: 'Requests refused because their address or their bearer sent too many in a minute',
    labelNames: ['by'] as const,
    registers: [options.registry],
  });
  const limiter = (by: 'peer' | 'actor', count: ReturnType<HttpServer['createRateLimit']>): Limiter => {
    return async (request, reply) => {
      const state = await count(request);
      if (state.isAllowed || !state.isExceeded) return;
      refused.inc({ by });
      reply.header('retry-after', String(state.ttlInSeconds));
      const detail = `More than ${state.max} requests in a minute; the next one may come in ${state.ttlInSeconds} s.`;
      throw new AppError('ADCAP_RATE_LIMITED', detail);
    };
  };
  const peer = limiter('peer', server.createRateLimit({ max: options.perPeer, timeWindow: MINUTE_MS }));
  const actor = limiter(
    'actor',
    server.createRateLimit({
      max: options.perActor,
      timeWindow: MINUTE_MS,
      keyGenerator: ({ bearer }) => (bearer === undefined ? '' : `${bearer.role} ${bearer.actor}`),
    }),
  );
  return {
    around: (access) => async (request, reply) => {
      await peer(request, reply);
      await access(request, reply);
      if (request.bearer !== undefined) await actor(request, reply);
    },
  };
};
