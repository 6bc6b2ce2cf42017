import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LocalServerError, startKafka, startRedis } from '@adcap/local-servers';
import { describe, expect } from 'vitest';
import { test } from './fake-commands.ts';

const JAVA = (version: string): string => `echo 'openjdk version "${version}"' >&2`;

const errorOf = async (attempt: Promise<unknown>): Promise<LocalServerError> => {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LocalServerError) return error;
  throw new Error('no LocalServerError', { cause: error });
};

describe('a Kafka that cannot be had says in one line what to do', () => {
  test.for([
    {
      name: 'no Java',
      commands: {},
      code: 'JAVA_MISSING',
      message: 'java is not on the PATH: install Java 17 or newer, or start Docker',
    },
    {
      name: 'Java 11',
      commands: { java: JAVA('11.0.22') },
      code: 'JAVA_TOO_OLD',
      message: 'java 11 is too old for Kafka 4: install Java 17 or newer, or start Docker',
    },
    {
      name: 'Java 8, which calls itself 1.8',
      commands: { java: JAVA('1.8.0_392') },
      code: 'JAVA_TOO_OLD',
      message: 'java 8 is too old for Kafka 4: install Java 17 or newer, or start Docker',
    },
    {
      name: 'Java but no Maven',
      commands: { java: JAVA('17.0.9') },
      code: 'MAVEN_MISSING',
      message: 'mvn is not on the PATH: install Maven 3.8 or newer, or start Docker',
    },
    {
      name: 'a download that fails',
      commands: { java: JAVA('21'), mvn: 'echo "[ERROR] no route to host"; echo "[ERROR] Re-run"; exit 1' },
      code: 'DOWNLOAD_FAILED',
      message:
        'kafka-4.1.1 could not be downloaded; run the command again when the network is back: [ERROR] no route to host',
    },
  ])('$name', async ({ commands, code, message }, { machine }) => {
    await machine.install(commands);
    const error = await errorOf(startKafka({ ...machine, mode: 'native' }));
    expect({ code: error.code, message: error.message }).toEqual({ code, message });
  });

  test('a failed download leaves nothing in the cache that could be taken for a good one', async ({
    machine,
  }) => {
    await machine.install({
      java: JAVA('17'),
      mvn: 'for a in "$@"; do case "$a" in -DoutputDirectory=*) : > "${a#*=}/half.jar";; esac; done; exit 1',
    });
    await errorOf(startKafka({ ...machine, mode: 'native' }));
    expect(await readdir(machine.cacheDir)).toEqual([]);
  });

  test('one that ends at once is told by the last telling line of its log', async ({ machine }) => {
    await machine.install({
      java: `case "$*" in
*-version*) ${JAVA('17')} ;;
*kafka.Kafka*) echo 'FATAL no space left'; echo '	at kafka.Kafka.main(Kafka.scala)'; exit 1 ;;
esac`,
    });
    await mkdir(path.join(machine.cacheDir, 'kafka-4.1.1'), { recursive: true });
    await writeFile(path.join(machine.cacheDir, 'kafka-4.1.1', 'a.jar'), '');
    const error = await errorOf(startKafka({ ...machine, mode: 'native' }));
    expect(error.code).toBe('DID_NOT_START');
    expect(error.message).toMatch(
      /^Kafka did not start: it ended with 1; .*kafka\.log ends: FATAL no space left$/,
    );
  });
});

describe('a Redis that cannot be had says in one line what to do', () => {
  test('a redis-server older than 6.2 is not taken', async ({ machine }) => {
    await machine.install({ 'redis-server': "echo 'Redis server v=6.0.16 sha=00000000:0'" });
    expect((await errorOf(startRedis({ ...machine, mode: 'native' }))).code).toBe('MAVEN_MISSING');
  });

  test('one that ends at once is told by the last line of its log', async ({ machine }) => {
    await machine.install({
      'redis-server': `case "$1" in
--version) echo 'Redis server v=7.0.15 sha=00000000:0' ;;
*) echo 'Fatal error, bad directive'; exit 1 ;;
esac`,
    });
    const error = await errorOf(startRedis({ ...machine, mode: 'native' }));
    expect(error.code).toBe('DID_NOT_START');
    expect(error.message).toMatch(
      /^Redis did not start: it ended with 1; .*ends: Fatal error, bad directive$/,
    );
  });
});
