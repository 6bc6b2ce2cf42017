import { topicName } from '@adcap/contracts';
import type { Producer } from '@adcap/kafka-bus';
import type { PublishEvents } from '../domain/done-marks.ts';

/** Publishes under the device's key, so that all impressions of a device stay in order in one partition. */
export const createImpressionBus = (producer: Pick<Producer, 'send'>, topicPrefix: string): PublishEvents => {
  const topic = topicName('impressions', topicPrefix);
  return async (events) => {
    const messages = events.map((event) => ({ key: event.deviceId, value: JSON.stringify(event) }));
    await producer.send(topic, messages);
  };
};
