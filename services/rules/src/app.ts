import { createHttpServer, type HttpServer, type ServiceContext } from '@adcap/service-runtime';
import { addGetRulesRoute } from './routes/get-rules.ts';
import { addPutRulesRoute } from './routes/put-rules.ts';
import type { RouteDeps } from './routes/route-deps.ts';
import { addValidateRulesRoute } from './routes/validate-rules.ts';

const VERSION = '0.1.0';
/** A set is written with more spaces than it is stored with. */
const BODY_FACTOR = 2;
const REQUEST_TIMEOUT_MS = 30_000;

/** The rules over HTTP; `listen` next. */
export const buildApp = async (
  { logger, registry, health }: Pick<ServiceContext<unknown>, 'logger' | 'registry' | 'health'>,
  deps: RouteDeps & { maxBytes: number },
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
  addGetRulesRoute(server, deps);
  addPutRulesRoute(server, deps);
  addValidateRulesRoute(server, deps);
  return server;
};
