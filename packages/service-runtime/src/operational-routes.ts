import type { Registry } from 'prom-client';
import type { Health, HealthReport } from './health.ts';
import type { HttpServer } from './http-server.ts';

const statusOf = (report: HealthReport): number => (report.ok ? 200 : 503);

const describeRoute = (summary: string) => ({ schema: { tags: ['operations'], summary } });

/** What every service answers to those who run it: liveness, readiness, metrics, its API description. */
export const addOperationalRoutes = (
  server: HttpServer,
  deps: { health: Health; registry: Registry },
): void => {
  server.get(
    '/livez',
    describeRoute('Whether this process runs; 503 asks for a restart'),
    async (_, reply) => {
      const report = await deps.health.livez();
      return reply.code(statusOf(report)).send(report.body);
    },
  );
  server.get('/readyz', describeRoute('Whether this process takes work, and why not'), async (_, reply) => {
    const report = await deps.health.readyz();
    return reply.code(statusOf(report)).send(report.body);
  });
  server.get('/metrics', describeRoute('Metrics for Prometheus'), async (_, reply) =>
    reply.header('content-type', deps.registry.contentType).send(await deps.registry.metrics()),
  );
  server.get('/openapi.json', { schema: { hide: true } }, async () => server.swagger());
};
