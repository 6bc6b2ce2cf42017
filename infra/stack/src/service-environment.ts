import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type Tokens, tokenSetting } from './tokens.ts';

const SAMPLE_RULES = path.resolve(import.meta.dirname, '../../rules/sample.yaml');

/** Settings of the servers on this machine, of the tests and of the command line; a service refuses an ADCAP_ variable that it does not know. */
const NOT_FOR_SERVICES = /^ADCAP_(?:CACHE_DIR$|TOKEN$|TEST_)/;

/** What every service is started with: the caller's own settings, and what this stack has made. */
export const serviceEnvironment = (
  env: NodeJS.ProcessEnv,
  made: { redisUrl: string; kafkaBrokers: string; tokens: Tokens },
): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_FOR_SERVICES.test(name))),
  REDIS_URL: made.redisUrl,
  KAFKA_BROKERS: made.kafkaBrokers,
  ADCAP_TOKEN_VIEWER: tokenSetting('viewer', env, made.tokens),
  ADCAP_TOKEN_EDITOR: tokenSetting('editor', env, made.tokens),
  ADCAP_TOKEN_OPERATOR: tokenSetting('operator', env, made.tokens),
  ADCAP_RESERVATION_KEYS: env['ADCAP_RESERVATION_KEYS'] || `local:${randomBytes(24).toString('base64url')}`,
  ADCAP_RULES_FILE: env['ADCAP_RULES_FILE'] || SAMPLE_RULES,
});
