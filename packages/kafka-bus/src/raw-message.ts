import type { KafkaMessage } from 'kafkajs';
import type { RawMessage } from './bus-message.ts';

export const toRawMessage = (partition: number, message: KafkaMessage): RawMessage => ({
  partition,
  offset: BigInt(message.offset),
  timestampMs: Number(message.timestamp),
  key: message.key,
  value: message.value,
  headers: Object.fromEntries(
    Object.entries(message.headers ?? {}).map(([name, value]) => [
      name,
      String(Array.isArray(value) ? value[0] : value),
    ]),
  ),
});
