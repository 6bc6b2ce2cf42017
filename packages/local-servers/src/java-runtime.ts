import { LocalServerError } from './local-server-error.ts';
import { runCommand } from './run-command.ts';

const OLDEST = 17;

/** Refuses a machine without a Java that Kafka 4 runs on. */
export const assertJava = async (): Promise<void> => {
  const { missing, code, output } = await runCommand('java', ['-version']);
  if (missing || code !== 0) {
    throw new LocalServerError(
      'JAVA_MISSING',
      'java is not on the PATH: install Java 17 or newer, or start Docker',
    );
  }
  // Java 8 calls itself 1.8.
  const major = Number(/version "(?:1\.)?(\d+)/.exec(output)?.[1] ?? 0);
  if (major < OLDEST) {
    throw new LocalServerError(
      'JAVA_TOO_OLD',
      `java ${major} is too old for Kafka 4: install Java ${OLDEST} or newer, or start Docker`,
    );
  }
};
