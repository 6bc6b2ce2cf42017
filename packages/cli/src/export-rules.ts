import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CliError } from './cli-error.ts';
import { type ConnectOptions, connect } from './connect.ts';
import type { Environment } from './environment.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { rulesYaml } from './rules-yaml.ts';

/** The JSON Schema of this installation. */
const SCHEMA = path.resolve(import.meta.dirname, '../../../docs/rules.schema.json');

const STANDARD_OUTPUT = '-';

/** As seen from the file, so that the line is right in every clone. */
const schemaFor = (folder: string): string => path.relative(folder, SCHEMA).split(path.sep).join('/');

/** `adcap rules export`: the rules in force as a file that validates and applies back to the same set. */
export const exportRules = async (
  file: string,
  options: ConnectOptions & { schema?: string | undefined },
  env: Environment,
): Promise<ExitCode> => {
  const client = await connect(options, env);
  const { ruleSet } = await client.read();
  const target = file === STANDARD_OUTPUT ? undefined : env.resolve(file);
  const folder = target === undefined ? env.resolve('.') : path.dirname(target);
  const yaml = rulesYaml(ruleSet, options.schema ?? schemaFor(folder));
  if (target === undefined) env.terminal.out(yaml.trimEnd());
  else
    await writeFile(target, yaml).catch((cause: unknown): never => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CliError(EXIT.usage, `${file} cannot be written: ${why}`, { cause });
    });
  env.terminal.err(`version ${ruleSet.version}, ${ruleSet.rules.length} rules`);
  return EXIT.ok;
};
