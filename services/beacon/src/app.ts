import { type EpochMs, epochMs, LIMITS } from '@adcap/contracts';
import { impressionIdentity, type ReservationTokens } from '@adcap/identity';
import {
  type Clock,
  createHttpServer,
  type Health,
  type HttpServer,
  type Logger,
} from '@adcap/service-runtime';
import { fastifyCors } from '@fastify/cors';
import type { Registry } from 'prom-client';
import { nameMark } from './adapters/name-mark.ts';
import type { BeaconConfig } from './config.ts';
import type { DoneMarks, PublishEvents } from './domain/done-marks.ts';
import type { BeaconMetrics } from './metrics.ts';
import { createProducerCheck } from './producer-tokens.ts';
import { createPublishOnce } from './publish-once.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { addBodyParser } from './routes/body-parser.ts';
import { addImpressionsRoute } from './routes/impressions.ts';
import { addPixelRoute } from './routes/pixel.ts';
import { createTakeImpressions } from './take-impressions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the first of the request arrived: what the device’s `sentAt` is nearest to. */
    receivedAt: EpochMs;
  }
}

export type AppDeps = {
  config: BeaconConfig;
  logger: Logger;
  clock: Clock;
  registry: Registry;
  health: Health;
  metrics: BeaconMetrics;
  publish: PublishEvents;
  marks: DoneMarks;
  tokens: Pick<ReservationTokens, 'verify'>;
  random: () => number;
};

const VERSION = '0.1.0';
/** The longest that browsers keep the answer to a preflight. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;
const ANY_ORIGIN = '*';

/** Players run on pages of others. The origin is echoed and not `*`, because sendBeacon asks in credentials mode. */
const addCors = async (server: HttpServer, origins: readonly string[]): Promise<void> => {
  await server.register(fastifyCors, {
    origin: origins.includes(ANY_ORIGIN) ? true : [...origins],
    // Nothing here reads a cookie, so there is nothing that a foreign page could borrow.
    credentials: true,
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-encoding', 'content-type'],
    exposedHeaders: ['retry-after', 'x-adcap-outcome'],
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  });
};

/** The beacon over HTTP; add nothing and `listen`. */
export const buildApp = async (deps: AppDeps): Promise<HttpServer> => {
  const { config, clock, random, tokens } = deps;
  const proxies = config.ADCAP_BEACON_TRUSTED_PROXIES;
  const server = await createHttpServer({
    name: 'beacon',
    version: VERSION,
    title: 'adcap beacon',
    description: 'Accepts impressions, refuses what cannot count and publishes each once.',
    logger: deps.logger,
    registry: deps.registry,
    health: deps.health,
    bodyLimitBytes: LIMITS.bodyBytes,
    trustProxy: proxies.length === 0 ? false : proxies,
    requestTimeoutMs: config.ADCAP_BEACON_REQUEST_TIMEOUT_MS,
  });
  server.decorateRequest('receivedAt', epochMs(0));
  server.addHook('onRequest', async (request) => {
    request.receivedAt = clock.nowMs();
  });
  server.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode === 503) reply.header('retry-after', retryAfterSeconds(random));
  });
  await addCors(server, config.ADCAP_BEACON_CORS_ORIGINS);
  addBodyParser(server);

  const publishOnce = createPublishOnce({ publish: deps.publish, marks: deps.marks, nameMark });
  const routeDeps = {
    take: createTakeImpressions({ publishOnce, metrics: deps.metrics }),
    context: {
      retentionMs: config.ADCAP_RETENTION_MS,
      verifyReservation: (id: string) => tokens.verify(id),
      identifyImpression: impressionIdentity,
    },
    isProducer: createProducerCheck(config.ADCAP_BEACON_PRODUCER_TOKENS),
  };
  addImpressionsRoute(server, routeDeps);
  addPixelRoute(server, routeDeps);
  return server;
};
