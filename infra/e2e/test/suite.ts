import {
  impressionsAnswerSchema,
  type SelectionAnswer,
  selectionAnswerSchema,
  topicName,
} from '@adcap/contracts';
import { followCompactedTopic } from '@adcap/kafka-bus';
import { openStack, type Stack } from '@adcap/stack';
import { SERVICES, withPorts } from '@adcap/stack/services';
import { waitFor } from '@adcap/testkit';

type Service = 'BEACON' | 'AD_SELECTION' | 'RULES' | 'HISTORY' | 'QUOTA' | 'CLEANUP';

/** Ports of one's own, so that a stack that somebody runs by hand is not in the way. */
export const ownPorts = (): Promise<NodeJS.ProcessEnv> =>
  withPorts(Object.fromEntries(SERVICES.map(({ portVariable }) => [portVariable, '0'])));

type Answered = { status: number; headers: Headers; body: unknown };

/** The running suite as its users see it. */
export type Suite = Stack & {
  url(service: Service, path?: string): string;
  post(service: Service, path: string, body: unknown): Promise<Answered>;
  /** Posts impressions and expects a 202. */
  watch(
    impressions: readonly Record<string, unknown>[],
  ): Promise<{ accepted: number; duplicates: number; ignored: number }>;
  select(body: Record<string, unknown>): Promise<SelectionAnswer>;
  /** Waits until both consumers have applied so many impressions of a device. */
  untilApplied(deviceId: string, count: number): Promise<void>;
  /** The values of every record on the impressions topic so far. */
  published(): Promise<string[]>;
};

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Everything on a topic up to its end. */
const readTopic = async (brokers: string, topic: string): Promise<string[]> => {
  const values: string[] = [];
  const follower = followCompactedTopic({
    bus: { brokers: [brokers], clientId: 'e2e', logger: quiet },
    topic,
    onRecord: (_key, value) => void values.push(value?.toString() ?? ''),
  });
  await follower.caughtUp;
  await follower.close();
  return values;
};

export const openSuite = async (env: Record<string, string> = {}): Promise<Suite> => {
  const ports = await ownPorts();
  const stack = await openStack(new AbortController().signal, {
    ...process.env,
    ...ports,
    // Nothing but the tests of the deadline itself is about a slow machine.
    ADCAP_AD_SELECTION_DEADLINE_MS: '2000',
    ...env,
  });
  const url: Suite['url'] = (service, path = '') =>
    `http://127.0.0.1:${ports[`ADCAP_${service}_PORT`]}${path}`;
  const post: Suite['post'] = async (service, path, body) => {
    const response = await fetch(url(service, path), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const suite: Suite = {
    ...stack,
    url,
    post,
    watch: async (impressions) => {
      const { status, body } = await post('BEACON', '/v1/impressions', { impressions });
      if (status !== 202) throw new Error(`the beacon answered ${status}: ${JSON.stringify(body)}`);
      return impressionsAnswerSchema.parse(body);
    },
    select: async (body) => {
      const answered = await post('AD_SELECTION', '/v1/selections', body);
      if (answered.status !== 200)
        throw new Error(`ad selection answered ${answered.status}: ${JSON.stringify(answered.body)}`);
      return selectionAnswerSchema.parse(answered.body);
    },
    untilApplied: async (deviceId, count) => {
      await waitFor(
        async () => {
          const response = await fetch(url('AD_SELECTION', `/v1/devices/${encodeURIComponent(deviceId)}`), {
            headers: { authorization: `Bearer ${stack.tokens.operator}` },
          });
          const { history, window } = (await response.json()) as {
            history: unknown[];
            window: { count: number };
          };
          return history.length === count && window.count === count;
        },
        { what: `${count} impressions of ${deviceId}` },
      );
    },
    published: () => readTopic(stack.kafka.address, topicName('impressions')),
  };
  return suite;
};
