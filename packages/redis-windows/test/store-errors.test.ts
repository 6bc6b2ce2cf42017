import { describe, expect, test } from 'vitest';
import { isRetryableStoreError, StoredFormatError } from '../src/index.ts';

const reply = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });
const system = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });
const inScript = (message: string): Error =>
  reply(`ERR Error running script (call to f_2a33): @user_script:79: ${message}`);

describe('isRetryableStoreError', () => {
  test.for([
    ['TRYAGAIN', reply('TRYAGAIN Multiple keys request during rehashing of slot')],
    ['ASK', reply('ASK 866 127.0.0.1:7001')],
    ['MOVED', reply('MOVED 866 127.0.0.1:7001')],
    ['CLUSTERDOWN', reply('CLUSTERDOWN Hash slot not served')],
    ['READONLY', reply("READONLY You can't write against a read only replica.")],
    ['READONLY in a script', inScript("-READONLY You can't write against a read only replica.")],
    ['LOADING', reply('LOADING Redis is loading the dataset in memory')],
    ['MASTERDOWN', reply("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.")],
    ['OOM', reply("OOM command not allowed when used memory > 'maxmemory'.")],
    [
      'OOM in a script of 6.2',
      inScript("@user_script: 79: -OOM command not allowed when used memory > 'maxmemory'."),
    ],
    ['NOSCRIPT', reply('NOSCRIPT No matching script. Please use EVAL.')],
    ['BUSY', reply('BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.')],
    [
      'MISCONF',
      reply('MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.'),
    ],
    ['NOREPLICAS', reply('NOREPLICAS Not enough good replicas to write.')],
    ['NOAUTH', reply('NOAUTH Authentication required.')],
    ['an answer that nobody knows', reply('SOMETHINGNEW happened')],
    ['a closed connection', new Error('Connection is closed.')],
    ['no connection', new Error("Stream isn't writeable and enableOfflineQueue options is false")],
    [
      'a lost answer',
      Object.assign(new Error('Reached the max retries per request limit'), {
        name: 'MaxRetriesPerRequestError',
      }),
    ],
    [
      'an aborted command',
      Object.assign(new Error('Command aborted due to connection close'), { name: 'AbortError' }),
    ],
    ['a timeout of a command', new Error('Command timed out')],
    [
      'a timeout of the socket',
      new Error("Socket timeout. Expecting data, but didn't receive any in 1000ms."),
    ],
    ['ECONNRESET', system('ECONNRESET')],
    ['ECONNREFUSED', system('ECONNREFUSED')],
    ['EPIPE', system('EPIPE')],
    ['ETIMEDOUT', system('ETIMEDOUT')],
    ['no error at all', undefined],
    ['null', null],
    ['text', 'WRONGTYPE'],
  ] as const)('tries again after %s', ([, error]) => {
    expect(isRetryableStoreError(error)).toBe(true);
  });

  test.for([
    ['WRONGTYPE', reply('WRONGTYPE Operation against a key holding the wrong kind of value')],
    [
      'WRONGTYPE in a script of 6.2',
      inScript('WRONGTYPE Operation against a key holding the wrong kind of value'),
    ],
    [
      'WRONGTYPE in a script of 7',
      reply(
        'WRONGTYPE Operation against a key holding the wrong kind of value script: 2a33, on @user_script:79.',
      ),
    ],
    ['a version that is no number', reply('ERR hash value is not an integer')],
    ['a member of an unknown format', new StoredFormatError('not of format 1')],
  ] as const)('gives up after %s', ([, error]) => {
    expect(isRetryableStoreError(error)).toBe(false);
  });
});
