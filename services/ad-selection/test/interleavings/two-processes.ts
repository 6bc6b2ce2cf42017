import { fileURLToPath } from 'node:url';
import { CURRENT_RULES_KEY, epochMs, rulesVersionKey, topicName } from '@adcap/contracts';
import { createReservationTokens } from '@adcap/identity';
import { settingsFor, startProcess } from '@adcap/impression-consumer/testing';
import { createProducer } from '@adcap/kafka-bus';
import {
  connectRedis,
  createDecisionStore,
  createHistoryWriter,
  createKeys,
  createWindowWriter,
} from '@adcap/redis-windows';
import { createLogger } from '@adcap/service-runtime';
import { startOwnRedis, waitFor } from '@adcap/testkit';
import { test as base } from '../fixtures.ts';
import { RETENTION } from '../start-selection.ts';
import { ONE_OF_EACH, ruleSetOf, rulesOf } from './catalogue.ts';
import type { Bench } from './run-program.ts';
import { watchStore } from './watch-store.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const logger = createLogger({ name: 'test', level: 'silent' });
const SECRET = 'a secret for the tests';
const GRACE_MS = 100;
const HOUR_MS = 3_600_000;

/** Puts the rule sets of the catalogue in force, one version after the other. */
const createRulesWriter = async (brokers: string, topicPrefix: string) => {
  const topic = topicName('rules', topicPrefix);
  const producer = createProducer({ bus: { brokers: [brokers], clientId: 'test', logger }, topics: [topic] });
  const published: { version: number; at: number }[] = [];
  let version = 0;
  const change = async (): Promise<void> => {
    version += 1;
    const mine = version;
    const { dimensions, rules } = ruleSetOf(mine);
    const value = JSON.stringify({ schema: 1, version: mine, dimensions, rules, publishedAt: Date.now() });
    await producer.send(topic, [
      { key: rulesVersionKey(mine), value },
      { key: CURRENT_RULES_KEY, value },
    ]);
    published.push({ version: mine, at: Date.now() });
  };
  await change();
  return {
    change,
    /** The newest version that was acknowledged before an instant. */
    newestBefore: (at: number): number =>
      Math.max(0, ...published.filter((one) => one.at < at).map((one) => one.version)),
    close: () => producer.close(),
  };
};

const send = async (address: string | undefined, path: string, body: unknown) => {
  const response = await fetch(new URL(path, address), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
};

/** Two processes of ad selection as they are deployed, with the default deadline, over one Redis and the rules topic. */
export const test = base.extend<{ pair: Bench }>({
  pair: async ({ ownClient, keyPrefix, kafkaBrokers, topicPrefix, topics: _topics }, use) => {
    // Nothing here is about persistence: a disk that takes longer than a deadline must not decide it.
    await using server = await startOwnRedis({ args: ['--appendonly', 'no'] });
    const redisUrl = server.address;
    // The consumers' part is done here: they are never behind.
    const applied = createKeys(keyPrefix).applied(`${topicPrefix}history`);
    await ownClient(redisUrl).hset(applied, { partitions: 1, '0:at': Date.now() + HOUR_MS });
    const rules = await createRulesWriter(kafkaBrokers, topicPrefix);
    const settings = {
      ...settingsFor({ redisUrl, keyPrefix, kafkaBrokers, topicPrefix }, 'ADCAP_AD_SELECTION_PORT'),
      ADCAP_RESERVATION_KEYS: `k1:${SECRET}`,
      ADCAP_RESERVATION_GRACE_MS: String(GRACE_MS),
      ADCAP_AD_SELECTION_DECISION_SAMPLE: '0',
    };
    const processes = await Promise.all([startProcess(MAIN, settings), startProcess(MAIN, settings)]);
    const connection = connectRedis({ url: redisUrl, name: 'model', logger, role: 'writer' });
    await connection.whenReady();
    const store = { keys: createKeys(keyPrefix), ...RETENTION };
    const tokens = createReservationTokens([{ id: 'k1', secret: SECRET }]);
    const post: Bench['post'] = (index, path, body) => send(processes[index]?.address, path, body);
    const look = { deviceId: 'd', breakId: 'b', breakAt: epochMs(Date.now()), candidates: [] };
    // oxlint-disable-next-line no-await-in-loop
    for (const index of [0, 1])
      await waitFor(
        async () => JSON.stringify(await post(index, '/v1/selections', look)).includes('"quotas"'),
        {
          what: `rules in process ${index}`,
        },
      );
    const watch = watchStore(ownClient(redisUrl));
    await use({
      post,
      stoodStill: watch.stoodStill,
      apply: {
        window: createWindowWriter(connection, store),
        history: createHistoryWriter(connection, store),
      },
      epoch: () => connection.epoch(),
      store: createDecisionStore(connection, store),
      changeRules: rules.change,
      world: {
        graceMs: GRACE_MS,
        tokens,
        rulesOf,
        versions: () => ONE_OF_EACH,
        newestBefore: rules.newestBefore,
      },
    });
    await watch.close();
    for (const service of processes) service.kill('SIGTERM');
    const exits = await Promise.all(processes.map((service) => service.exited));
    await rules.close();
    await connection.close();
    const bad = exits.find(({ code, output }) => code !== 0 || output.includes('nhandled'));
    if (bad !== undefined) throw new Error(JSON.stringify(bad));
  },
});
