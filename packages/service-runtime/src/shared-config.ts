import { z } from 'zod';
import { accessTokens } from './access-tokens.ts';
import { LOG_LEVELS } from './logger.ts';

/** A list written with commas; empty entries are slips and left out. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

const port = z.coerce.number().int().min(0).max(65_535);
const milliseconds = z.coerce.number().int().min(1);

/** `id:secret,id:secret`; the message never repeats what may be a secret. */
const tokenKeys = commaList.transform((entries, ctx) =>
  entries.map((entry) => {
    const at = entry.indexOf(':');
    if (at < 1 || at === entry.length - 1) {
      ctx.addIssue({ code: 'custom', message: 'must be like id:secret,id:secret' });
      return z.NEVER;
    }
    return { id: entry.slice(0, at), secret: entry.slice(at + 1) };
  }),
);

const tokensOf = (what: string) =>
  accessTokens
    .optional()
    .describe(`Bearer tokens that may ${what}: token, name=token or name=sha256:<hex>, separated by commas`);
const perMinute = z.coerce.number().int().min(1).default(6_000);

/** The settings that mean the same in every service; a service names the ones that it reads. */
export const sharedSettings = {
  KAFKA_BROKERS: commaList
    .prefault('127.0.0.1:9092')
    .describe('Kafka brokers as host:port, separated by commas; IPv6 addresses in brackets'),
  REDIS_URL: z.string().default('redis://127.0.0.1:6379').describe('Where Redis is'),
  ADCAP_LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('The least important level that is logged'),
  ADCAP_HOST: z.string().default('127.0.0.1').describe('The address that HTTP servers listen on'),
  ADCAP_TOPIC_PREFIX: z.string().default('').describe('Goes before every topic of this installation'),
  ADCAP_KEY_PREFIX: z.string().default('adcap:').describe('Goes before every Redis key of this installation'),
  ADCAP_GROUP_PREFIX: z
    .string()
    .default('adcap.')
    .describe('Goes before every consumer group of this installation'),
  ADCAP_RETENTION_MS: milliseconds
    .default(86_400_000)
    .describe('How long impressions are kept and may be told late; no window of a rule may be longer'),
  ADCAP_RESERVATION_GRACE_MS: z.coerce
    .number()
    .int()
    .min(0)
    .default(30_000)
    .describe('How long a reservation is held after its pod should have ended'),
  ADCAP_RESERVATION_KEYS: tokenKeys.describe(
    'What signs reservation ids, as id:secret, separated by commas; the first one signs, all verify',
  ),
  ADCAP_TOKEN_VIEWER: tokensOf('read the rules'),
  ADCAP_TOKEN_EDITOR: tokensOf('change the rules as well'),
  ADCAP_TOKEN_OPERATOR: tokensOf('do everything, devices included'),
  ADCAP_RATE_LIMIT_PEER: perMinute.describe(
    'Requests a minute that one address may send to what needs a token, in each process',
  ),
  ADCAP_RATE_LIMIT_ACTOR: perMinute.describe(
    'Requests a minute that one bearer may send to what needs a token, in each process',
  ),
  ADCAP_RULES_FILE: z.string().optional().describe('A YAML rule set with which an empty installation starts'),
  ADCAP_BEACON_PORT: port.default(8081).describe('Port of the beacon; 0 takes a free one'),
  ADCAP_AD_SELECTION_PORT: port.default(8082).describe('Port of ad selection; 0 takes a free one'),
  ADCAP_RULES_PORT: port.default(8083).describe('Port of the rules service; 0 takes a free one'),
  ADCAP_HISTORY_PORT: port
    .default(8084)
    .describe('Port of the history consumer’s health and metrics; 0 takes a free one'),
  ADCAP_QUOTA_PORT: port
    .default(8085)
    .describe('Port of the quota consumer’s health and metrics; 0 takes a free one'),
  ADCAP_CLEANUP_PORT: port
    .default(8086)
    .describe('Port of the cleanup consumer’s health and metrics; 0 takes a free one'),
} as const;

/** Every service by the word that its own settings carry: `ADCAP_<SERVICE>_<NAME>`. */
export const SERVICES = ['BEACON', 'AD_SELECTION', 'RULES', 'HISTORY', 'QUOTA', 'CLEANUP'] as const;
export type ServiceName = (typeof SERVICES)[number];

/**
 * The variables that one service may find in an environment made for the whole suite: what is shared, and what belongs
 * to the other services, each of which judges its own.
 */
export const suiteVariables = (
  service: ServiceName,
  env: Readonly<Record<string, string | undefined>>,
): string[] => {
  const others = SERVICES.filter((name) => name !== service).map((name) => `ADCAP_${name}_`);
  const foreign = Object.keys(env).filter((name) => others.some((prefix) => name.startsWith(prefix)));
  return [...Object.keys(sharedSettings), ...foreign];
};
