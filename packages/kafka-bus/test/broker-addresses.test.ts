import { expect, test } from 'vitest';
import { brokerAddresses } from '../src/broker-addresses.ts';

test('names and IPv4 addresses are left as they are', () => {
  const { brokers, hostOf } = brokerAddresses(['kafka:9092', ' 127.0.0.1:9093 ']);
  expect(brokers).toEqual(['kafka:9092', '127.0.0.1:9093']);
  expect(hostOf('kafka')).toBe('kafka');
});

test('a bracketed IPv6 address is turned into a name and back', () => {
  const { brokers, hostOf } = brokerAddresses(['kafka:9092', '[::1]:9093']);
  const [host = '', port] = (brokers[1] ?? '').split(':');
  expect(port).toBe('9093');
  expect(hostOf(host)).toBe('::1');
});
