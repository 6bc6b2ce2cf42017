import { expect, test } from 'vitest';
import { createLogger } from '../src/index.ts';
import { collectLogs } from './start-server.ts';

test('lines are JSON with the name of the service and the level as a word', () => {
  const { lines, write } = collectLogs();
  const logger = createLogger({ name: 'beacon', level: 'info' }, { write });
  logger.info({ port: 8_081 }, 'ready');
  logger.debug('unseen');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ name: 'beacon', level: 'info', msg: 'ready', port: 8_081 });
});

test('authorization headers never reach a line', () => {
  const { lines, write } = collectLogs();
  const logger = createLogger({ name: 'rules', level: 'info' }, { write });
  const headers = { authorization: 'Bearer s3cret', accept: '*/*' };
  logger.info({ req: { headers } }, 'nested');
  logger.info({ headers }, 'headers');
  logger.info(headers, 'flat');
  logger.info({ request: { Authorization: 'Bearer s3cret' } }, 'upper case');
  expect(JSON.stringify(lines)).not.toContain('s3cret');
  expect(lines[0]).toMatchObject({ req: { headers: { authorization: '[redacted]', accept: '*/*' } } });
});

test('errors are logged with cause and code, without the payload that clients hang on them', () => {
  const { lines, write } = collectLogs();
  const cause = new Error('ECONNREFUSED 127.0.0.1');
  const command = { name: 'zadd', args: ['viewer-42'] };
  const error = Object.assign(new Error('write failed', { cause }), { code: 'READONLY', command });
  createLogger({ name: 'quota', level: 'info' }, { write }).error({ err: error }, 'step failed');
  expect(lines[0]).toMatchObject({ err: { type: 'Error', code: 'READONLY' } });
  expect(JSON.stringify(lines[0])).toContain('ECONNREFUSED');
  expect(JSON.stringify(lines[0])).not.toContain('viewer-42');
});
