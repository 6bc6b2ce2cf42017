import type { ExitCode } from './exit-codes.ts';

/** Ends the run with a sentence for whoever called and a code for a script. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
