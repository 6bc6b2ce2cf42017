import {
  createHttpServer,
  createRateLimits,
  type HttpServer,
  type RateLimitOptions,
  type RoleTokens,
  type ServiceContext,
} from '@adcap/service-runtime';
import { createAccess } from './access.ts';
import { addDimensionRoute } from './routes/dimensions.ts';
import { addEffectiveRoute } from './routes/effective.ts';
import { addGetRulesRoute } from './routes/get-rules.ts';
import { addPreviewRulesRoute } from './routes/preview-rules.ts';
import { addPutRulesRoute } from './routes/put-rules.ts';
import { addRollbackRoute } from './routes/rollback.ts';
import type { RouteDeps } from './routes/route-deps.ts';
import { addSingleRuleRoutes } from './routes/single-rules.ts';
import { addValidateRulesRoute } from './routes/validate-rules.ts';
import { addVersionRoutes } from './routes/versions.ts';

const VERSION = '0.1.0';
/** A set is written with more spaces than it is stored with. */
const BODY_FACTOR = 2;
const REQUEST_TIMEOUT_MS = 30_000;

/** The rules over HTTP; `listen` next. */
export const buildApp = async (
  { logger, registry, health }: Pick<ServiceContext<unknown>, 'logger' | 'registry' | 'health'>,
  {
    tokens,
    limits,
    ...deps
  }: Omit<RouteDeps, 'access'> & {
    tokens: RoleTokens;
    limits: Pick<RateLimitOptions, 'perPeer' | 'perActor'>;
    maxBytes: number;
  },
): Promise<HttpServer> => {
  const server = await createHttpServer({
    name: 'rules',
    version: VERSION,
    title: 'adcap rules',
    description: 'The rule set: validated whole, versioned, and published to every service.',
    logger,
    registry,
    health,
    bodyLimitBytes: deps.maxBytes * BODY_FACTOR,
    trustProxy: false,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const access = createAccess(tokens, await createRateLimits(server, { ...limits, registry }));
  const routeDeps: RouteDeps = { ...deps, access };
  addGetRulesRoute(server, routeDeps);
  addPutRulesRoute(server, routeDeps);
  addSingleRuleRoutes(server, routeDeps);
  addDimensionRoute(server, routeDeps);
  addPreviewRulesRoute(server, routeDeps);
  addValidateRulesRoute(server, routeDeps);
  addVersionRoutes(server, routeDeps);
  addRollbackRoute(server, routeDeps);
  addEffectiveRoute(server, routeDeps);
  return server;
};
