import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serviceEnvironment } from '../src/service-environment.ts';
import { SERVICES, urlOf, withPorts } from '../src/services.ts';
import { makeTokens } from '../src/tokens.ts';

const FREE = Object.fromEntries(SERVICES.map(({ portVariable }) => [portVariable, '0']));

test('0 takes a free port for each', async () => {
  const env = await withPorts(FREE);
  const urls = SERVICES.map(({ name }) => urlOf(name, env));
  expect(new Set(urls).size).toBe(SERVICES.length);
  expect(urls).not.toContain('http://127.0.0.1:0');
});

test('one port for two services is refused with both names', async () => {
  const env = { ...FREE, ADCAP_RULES_PORT: '18083', ADCAP_BEACON_PORT: '18083' };
  await expect(withPorts(env)).rejects.toThrow('ADCAP_RULES_PORT and ADCAP_BEACON_PORT are both 18083');
});

test.for(['x', '-1', '65536', '80.5'])('%j is no port', async (port) => {
  await expect(withPorts({ ...FREE, ADCAP_BEACON_PORT: port })).rejects.toThrow(
    'ADCAP_BEACON_PORT is no port',
  );
});

test('a taken port is refused with what to change', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(withPorts({ ...FREE, ADCAP_QUOTA_PORT: String(port) })).rejects.toThrow(
    `port ${port} is taken: free it, or set another for quota with ADCAP_QUOTA_PORT`,
  );
});

test('services get what this stack made, and nothing that they would refuse', () => {
  const tokens = { viewer: 'v', editor: 'e', operator: 'o' };
  const env = serviceEnvironment(
    {
      ADCAP_CACHE_DIR: '/c',
      ADCAP_TOKEN: 't',
      ADCAP_TEST_REDIS: 'r',
      ADCAP_LOG_LEVEL: 'warn',
      ADCAP_RULES_FILE: '',
    },
    { redisUrl: 'redis://x', kafkaBrokers: 'x:1', tokens },
  );
  expect(env).toMatchObject({ ADCAP_LOG_LEVEL: 'warn', REDIS_URL: 'redis://x', ADCAP_TOKEN_EDITOR: 'e' });
  expect(Object.keys(env)).not.toContain('ADCAP_CACHE_DIR');
  expect(Object.keys(env)).not.toContain('ADCAP_TOKEN');
  expect(Object.keys(env)).not.toContain('ADCAP_TEST_REDIS');
  expect(env['ADCAP_RULES_FILE']).toMatch(/infra\/rules\/sample\.yaml$/);
  expect(env['ADCAP_RESERVATION_KEYS']).toMatch(/^local:\S{32}$/);
});

test('a token that the environment names, hashes or lists stays, beside one that this stack can send', () => {
  const given = {
    ADCAP_TOKEN_VIEWER: 'plain',
    ADCAP_TOKEN_EDITOR: `jane=sha256:${'a'.repeat(64)}`,
    ADCAP_TOKEN_OPERATOR: '',
  };
  const tokens = makeTokens(given);
  expect(tokens.viewer).toBe('plain');
  expect([tokens.editor, tokens.operator]).toEqual([
    expect.stringMatching(/^[\w-]{24}$/),
    expect.stringMatching(/^[\w-]{24}$/),
  ]);
  const env = serviceEnvironment(given, { redisUrl: 'redis://x', kafkaBrokers: 'x:1', tokens });
  expect(env).toMatchObject({
    ADCAP_TOKEN_VIEWER: 'plain',
    ADCAP_TOKEN_EDITOR: `${given.ADCAP_TOKEN_EDITOR},${tokens.editor}`,
    ADCAP_TOKEN_OPERATOR: tokens.operator,
  });
});
