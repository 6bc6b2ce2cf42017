import { CliError } from './cli-error.ts';
import type { Environment } from './environment.ts';
import { EXIT } from './exit-codes.ts';
import { createRulesClient, type RulesClient } from './rules-client.ts';
import { readText } from './rules-file.ts';

export type ConnectOptions = { url: string; tokenFile?: string | undefined };

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

const tokenOf = async ({ tokenFile }: ConnectOptions, env: Environment): Promise<string> => {
  const given = tokenFile === undefined ? env.token : await readText(env.resolve(tokenFile), tokenFile);
  const token = given?.trim() ?? '';
  if (token !== '') return token;
  throw new CliError(EXIT.usage, 'a token is needed: set ADCAP_TOKEN, or name a file with --token-file');
};

const addressOf = (url: string): URL => {
  const parsed = URL.parse(url);
  if (parsed !== null && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new CliError(EXIT.usage, `${url} is no http address`);
};

/** The rules service that the options name, with the caller's token. */
export const connect = async (options: ConnectOptions, env: Environment): Promise<RulesClient> => {
  const address = addressOf(options.url);
  if (address.protocol === 'http:' && !LOOPBACK.test(address.hostname))
    env.terminal.err(`the token is sent to ${address.host} without encryption`);
  return createRulesClient(address.href, await tokenOf(options, env));
};
