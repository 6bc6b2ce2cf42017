import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { fastifySwagger } from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { jsonSchemaTransform, serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import { registerBuildInfo } from './build-info.ts';
import { answerClientError } from './client-error.ts';
import { drainConnections } from './drain-connections.ts';
import { answerProblem } from './error-handler.ts';
import type { Health } from './health.ts';
import { createHttpMetrics } from './http-metrics.ts';
import type { Logger } from './logger.ts';
import { addOperationalRoutes } from './operational-routes.ts';
import { parseQuery } from './query-parser.ts';
import { createRequestGuard, refuseUnrouted } from './request-guard.ts';
import { requestValidatorCompiler } from './request-validator.ts';
import { createRouteTable } from './route-table.ts';

/** A fastify instance whose schemas are zod schemas. */
export type HttpServer = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export type HttpServerOptions = {
  name: string;
  version: string;
  title: string;
  description: string;
  logger: Logger;
  registry: Registry;
  health: Health;
  bodyLimitBytes: number;
  /** Proxies by address or CIDR range whose X-Forwarded-For is believed; never "all". */
  trustProxy: false | string | string[];
  /** How long a whole request may take to arrive. */
  requestTimeoutMs: number;
};

/** 256 characters of an id, each up to 4 bytes, each byte written `%XX`. */
const MAX_PARAM_LENGTH = 3_072;
/** Longer than the idle timeout of the usual balancers (60 s), so that the proxy hangs up first, never in mid-request. */
const KEEP_ALIVE_MS = 65_000;
/** A socket on which nothing moves for this long is dropped. */
const IDLE_SOCKET_MS = 120_000;
const TIMEOUT_CHECK_MS = 1_000;

const createInstance = (options: HttpServerOptions): HttpServer =>
  fastify<Server, IncomingMessage, ServerResponse>({
    loggerInstance: options.logger,
    // One line per request would cost as much as a decision, and paths hold device ids: metrics tell the traffic.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: options.bodyLimitBytes,
    trustProxy: options.trustProxy,
    exposeHeadRoutes: false,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    requestTimeout: options.requestTimeoutMs,
    connectionTimeout: IDLE_SOCKET_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: options.requestTimeoutMs, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    // A drained process still answers what reaches it, with Connection: close, so that no request fails in a rollout.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: parseQuery },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      answerProblem(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();

/** Must come before the routes: the description is gathered as they are registered. */
const addApiDocs = async (server: HttpServer, options: HttpServerOptions): Promise<void> => {
  await server.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: options.title, description: options.description, version: options.version },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transform: jsonSchemaTransform,
  });
  await server.register(fastifySwaggerUi, { routePrefix: '/documentation' });
};

/**
 * A server that speaks one error format, measures itself and describes itself. Add routes, then `listen`.
 * Only JSON bodies are read; a service that takes other types adds their parsers.
 */
export const createHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const server = createInstance(options);
  const routes = createRouteTable();
  server.setValidatorCompiler(requestValidatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  server.removeContentTypeParser('text/plain');
  drainConnections(server);
  server.setErrorHandler(answerProblem);
  server.setNotFoundHandler((request, reply) => refuseUnrouted(request, reply, routes));
  server.addHook('onRoute', (route) => routes.add(route));
  server.addHook('onRequest', createRequestGuard(routes));
  server.addHook('onResponse', createHttpMetrics(options.registry));
  server.decorateRequest('bearer', undefined);
  server.decorateRequest('audited', undefined);
  server.decorateRequest('failure', undefined);
  registerBuildInfo(options.registry, options);
  await addApiDocs(server, options);
  addOperationalRoutes(server, options);
  return server;
};
