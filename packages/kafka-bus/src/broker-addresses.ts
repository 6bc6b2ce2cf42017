/** A broker as kafkajs may be told of it, and the host to connect to instead where the two differ. */
export type BrokerAddresses = { brokers: string[]; hostOf: (host: string) => string };

/**
 * kafkajs cuts an address at its first colon, so a bracketed IPv6 address cannot be given to it. Such a host gets a
 * stand-in name, which the socket factory turns back.
 */
export const brokerAddresses = (brokers: readonly string[]): BrokerAddresses => {
  const hosts = new Map<string, string>();
  const named = brokers.map((broker, index) => {
    const match = /^\[([^\]]+)\]:(\d+)$/.exec(broker.trim());
    if (match === null) return broker.trim();
    const name = `ipv6-${index}.invalid`;
    hosts.set(name, match[1] ?? '');
    return `${name}:${match[2]}`;
  });
  return { brokers: named, hostOf: (host) => hosts.get(host) ?? host };
};
