/** Kafka elects a leader in a second or so; the spread keeps the clients from coming back as one. */
const EARLIEST_SECONDS = 1;
const SPREAD_SECONDS = 5;

/** How long a client should wait before it sends the same again: 1 to 5 whole seconds. */
export const retryAfterSeconds = (random: () => number): string =>
  String(EARLIEST_SECONDS + Math.floor(random() * SPREAD_SECONDS));
