import { parseWindowMs } from '@adcap/contracts';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { applyRules } from './apply-rules.ts';
import { CliError } from './cli-error.ts';
import type { ConnectOptions } from './connect.ts';
import { diffRules } from './diff-rules.ts';
import type { Environment } from './environment.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { exportRules } from './export-rules.ts';
import { validateRules } from './validate-rules.ts';

const DEFAULT_URL = 'http://127.0.0.1:8083';
const DEFAULT_RETENTION = '24h';

const parseRetention = (text: string): number => {
  const ms = parseWindowMs(text);
  if (ms === undefined) throw new InvalidArgumentError('It is like 24h or 7d.');
  return ms;
};

const NOTE_LENGTH = 1_000;

const parseNote = (text: string): string => {
  if (text.trim() === '' || text.length > NOTE_LENGTH)
    throw new InvalidArgumentError(`It is a text of at most ${NOTE_LENGTH} characters.`);
  return text;
};

const retentionOption = (): Option =>
  new Option('--retention <window>', 'how long impressions are kept: no window may be longer')
    .argParser(parseRetention)
    .default(parseWindowMs(DEFAULT_RETENTION), DEFAULT_RETENTION);

const withService = (command: Command): Command =>
  command
    .option('--url <url>', 'the rules service', DEFAULT_URL)
    .option('--token-file <file>', 'a file with the token; without it ADCAP_TOKEN is taken');

const EXIT_CODES = `
Exit codes: 0 done; 1 the rules are wrong; 2 the call is wrong; 3 nobody said yes; 4 somebody else was faster; 5 refused;
6 the service is away; 7 in force, or maybe: look before sending again; 8 it differs (diff --exit-code).`;

type Retention = { retention: number };
type Action<Options> = (file: string, options: Options) => Promise<void>;
type Actions = {
  validate: Action<Retention & { strict?: true }>;
  diff: Action<ConnectOptions & Retention & { exitCode?: true }>;
  apply: Action<ConnectOptions & Retention & { note: string; yes?: true; force?: true }>;
  export: Action<ConnectOptions & { schema?: string }>;
};

const addRulesCommands = (program: Command, actions: Actions): void => {
  const rules = program
    .command('rules')
    .description('A rule set kept as a YAML file, { dimensions?, rules }')
    .addHelpText('after', EXIT_CODES);
  rules
    .command('validate')
    .description('Tell what is wrong and what is odd in a file; needs no service')
    .argument('<file>', 'the rule set')
    .addOption(retentionOption())
    .option('--strict', 'warnings are errors')
    .action(actions.validate);
  withService(rules.command('diff'))
    .description('Tell what a file would change against the rules in force')
    .argument('<file>', 'the rule set')
    .addOption(retentionOption())
    .option('--exit-code', `exit with ${EXIT.differs} where it would change something`)
    .action(actions.diff);
  withService(rules.command('apply'))
    .description('Put a file in force, after its diff, its warnings and a preview have been shown')
    .argument('<file>', 'the rule set')
    .addOption(
      new Option('--note <text>', 'why, kept with the version').argParser(parseNote).makeOptionMandatory(),
    )
    .addOption(retentionOption())
    .option('--yes', 'do not ask')
    .option('--force', 'do not ask a second time where a change should be thought about twice')
    .action(actions.apply);
  withService(rules.command('export'))
    .description('Write the rules in force as a file that applies back to the same set')
    .argument('<file>', 'where to; - is the standard output')
    .option('--schema <path>', 'where editors find the JSON Schema; without it that of this installation')
    .action(actions.export);
};

/** Runs `adcap` with its arguments; the answer is how it ended. */
export const runCli = async (args: readonly string[], env: Environment): Promise<ExitCode> => {
  let ended: ExitCode = EXIT.ok;
  const { terminal } = env;
  const ends = async (work: Promise<ExitCode>): Promise<void> => {
    ended = await work;
  };
  const program = new Command('adcap')
    .description('Frequency caps as ad operations keep them')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    });
  addRulesCommands(program, {
    validate: (file, { retention: retentionMs, strict = false }) =>
      ends(validateRules(file, { retentionMs, strict }, env)),
    diff: (file, { retention: retentionMs, exitCode = false, ...service }) =>
      ends(diffRules(file, { ...service, retentionMs, exitCode }, env)),
    apply: (file, { retention: retentionMs, yes = false, force = false, ...rest }) =>
      ends(applyRules(file, { ...rest, retentionMs, yes, force }, env)),
    export: (file, options) => ends(exportRules(file, options, env)),
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return ended;
  } catch (error) {
    // Its own complaints have been written already; asked for, help is no fault.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof CliError)) throw error;
    terminal.err(`adcap: ${error.message}`);
    return error.exitCode;
  }
};
