import type { Terminal } from './terminal.ts';

/** What a command is run in; main.ts reads it from the process. */
export type Environment = {
  terminal: Terminal;
  /** The path of a file that the caller named. */
  resolve(file: string): string;
  /** ADCAP_TOKEN. */
  token: string | undefined;
  nowMs(): number;
};
