import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CURRENT_RULES_KEY, topicName } from '@adcap/contracts';
import { healthOf } from '@adcap/impression-consumer/testing';
import { createProducer } from '@adcap/kafka-bus';
import { connectRedis, createKeys, createRulesCache } from '@adcap/redis-windows';
import { test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { metricOf, startFollowers } from './service-processes.ts';

const NOWHERE = '127.0.0.1:1';
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const rulesCheckOf = async (address: string) => (await healthOf(address, '/readyz')).body.checks['rules'];

/** Waits until every service tells the same of its rules, and that by its metric, too. */
const untilAll = async (
  processes: readonly { service: string; address: string }[],
  version: number,
  detail: string,
): Promise<void> => {
  await Promise.all(
    processes.map(({ service, address }) =>
      waitFor(
        async () => {
          expect((await rulesCheckOf(address))?.detail).toBe(detail);
          expect(await metricOf(address, 'adcap_rules_version')).toBe(version);
          return true;
        },
        { what: `${service} says ${detail}`, timeoutMs: 30_000 },
      ),
    ),
  );
};

const record = (version: number, more: object = {}) =>
  JSON.stringify({
    schema: 1,
    version,
    dimensions: {},
    rules: [{ id: 'hourly', dimension: 'creative', limit: { max: version, window: '60m' } }],
    publishedAt: 1_764_550_000_000 + version,
    ...more,
  });

describe('every service that follows the rules', () => {
  test('started while Kafka is away it has the last set that Redis keeps', async ({
    redisUrl,
    keyPrefix,
  }) => {
    const redis = connectRedis({ url: redisUrl, name: 'test', logger: quiet, role: 'writer' });
    await redis.whenReady();
    await createRulesCache(redis, createKeys(keyPrefix)).compareAndSet(null, 4, record(4));
    await redis.close();
    const servers = { redisUrl, keyPrefix, kafkaBrokers: NOWHERE, topicPrefix: 'x.' };
    await untilAll(await startFollowers(servers), 4, 'version 4 from redis; not followed live');
  });

  test('started with both away it has the mounted file', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'adcap-rules-'));
    const file = path.join(folder, 'rules.yaml');
    await writeFile(file, 'rules:\n  - { id: a, dimension: creative, limit: { max: 4, window: 60m } }\n');
    const away = {
      redisUrl: `redis://${NOWHERE}`,
      keyPrefix: 'x:',
      kafkaBrokers: NOWHERE,
      topicPrefix: 'x.',
    };
    const processes = await startFollowers(away, { ADCAP_RULES_FILE: file });
    await untilAll(processes, 0, 'version 0 from file; not followed live');
    await rm(folder, { recursive: true });
  });

  test('a set of a newer release, or a wrong one, is refused by name in log, metric and readiness, and the old one kept', async ({
    redisUrl,
    keyPrefix,
    kafkaBrokers,
    topicPrefix,
    topics: _topics,
  }) => {
    const topic = topicName('rules', topicPrefix);
    const producer = createProducer({
      bus: { brokers: [kafkaBrokers], clientId: 'test', logger: quiet },
      topics: [topic],
    });
    const publish = (value: string) => producer.send(topic, [{ key: CURRENT_RULES_KEY, value }]);
    await publish(record(5));
    const processes = await startFollowers({ redisUrl, keyPrefix, kafkaBrokers, topicPrefix });
    await untilAll(processes, 5, 'version 5 from bus');
    await publish(
      record(6, { rules: [{ id: 'long', dimension: 'brand', limit: { max: 1, window: '9d' } }] }),
    );
    const wrong = 'rule long, limit.window: must not be longer than the 24 h that impressions are kept';
    await untilAll(processes, 5, `version 5 from bus; version 6 was refused: wrong_rules, ${wrong}`);
    await publish(record(7, { schema: 2 }));
    const newer = 'version 7 was refused: newer_schema, a newer release wrote it: upgrade';
    await untilAll(processes, 5, `version 5 from bus; ${newer}`);
    const refusals = await Promise.all(
      processes.map(({ address }) => metricOf(address, 'adcap_rules_refused_total{reason="newer_schema"}')),
    );
    expect(refusals).toEqual(processes.map(() => 1));
    await publish(record(8));
    await untilAll(processes, 8, 'version 8 from bus');
    await producer.close();
    for (const service of processes) service.kill('SIGTERM');
    for (const { exited } of processes) {
      const { output } = await exited;
      expect(output).toMatch(/"reason":"newer_schema".*"version":7.*"kept":5.*a rule set was refused/);
    }
  });
});
