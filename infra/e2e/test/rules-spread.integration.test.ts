import { test, waitFor } from '@adcap/testkit';
import { expect } from 'vitest';
import { metricOf, startFollowers, startService } from './service-processes.ts';

const EDITOR = 'editor-token-for-the-tests';
const SERVICES = ['beacon', 'history', 'quota', 'cleanup', 'ad-selection', 'ad-selection'];
/** What is promised; met with thousands of rules, too. */
const SPREAD_MS = 2_000;

const rulesOf = (count: number, max: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `rule-${index}`,
    dimension: 'creative',
    value: `creative ${index}`,
    limit: { max, window: '60m' },
    note: 'why this cap is there, in a sentence of the length that people write',
  }));

test('a change acts in every instance of every service within 2 s, without traffic; of one rule and of 5,000', async ({
  redisUrl,
  keyPrefix,
  kafkaBrokers,
  topicPrefix,
  topics: _topics,
}) => {
  const servers = { redisUrl, keyPrefix, kafkaBrokers, topicPrefix };
  const rules = await startService('rules', servers, { ADCAP_TOKEN_EDITOR: EDITOR });
  const followers = await startFollowers(servers, {}, SERVICES);
  const versionsOf = () =>
    Promise.all(followers.map(({ address }) => metricOf(address, 'adcap_rules_version')));
  const untilAll = (version: number, timeoutMs = 20_000) =>
    waitFor(
      async () => {
        expect(await versionsOf()).toEqual(SERVICES.map(() => version));
        return true;
      },
      { what: `version ${version} in ${SERVICES.join(', ')}`, timeoutMs },
    );
  const put = async (version: number, list: object[]): Promise<void> => {
    const response = await fetch(new URL('/v1/rules', rules.address), {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${EDITOR}`,
        'content-type': 'application/json',
        'if-match': `"${version}"`,
      },
      body: JSON.stringify({ rules: list }),
    });
    expect(await response.json()).toMatchObject({ version: version + 1 });
  };

  await untilAll(1);
  for (const [version, count] of [
    [1, 1],
    [2, 5_000],
    [3, 2],
  ] as const) {
    await put(version, rulesOf(count, version));
    const from = performance.now();
    await untilAll(version + 1, SPREAD_MS);
    console.log(
      `${count} rules were in force in ${SERVICES.length} processes ${(performance.now() - from).toFixed(0)} ms after the answer`,
    );
  }
  for (const process of [rules, ...followers]) process.kill('SIGTERM');
  await Promise.all([rules, ...followers].map(({ exited }) => exited));
});
