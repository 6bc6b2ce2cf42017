/** One message to be written. Messages of one key keep their order and share a partition. */
export type BusMessage = {
  key: string | Buffer | null;
  value: string | Buffer | null;
  headers?: Readonly<Record<string, string>>;
};

/** One message as read, undecoded. Anybody may have written it: key and value may be null, empty or no UTF-8. */
export type RawMessage = {
  partition: number;
  offset: bigint;
  timestampMs: number;
  key: Buffer | null;
  value: Buffer | null;
  headers: Readonly<Record<string, string>>;
};

/** Framing of one record, rounded up. */
const RECORD_OVERHEAD_BYTES = 70;

/** About what a message takes in a request. */
export const messageBytes = ({ key, value, headers }: BusMessage): number => {
  let bytes = RECORD_OVERHEAD_BYTES + byteLength(key) + byteLength(value);
  for (const [name, text] of Object.entries(headers ?? {})) bytes += byteLength(name) + byteLength(text);
  return bytes;
};

const byteLength = (part: string | Buffer | null): number => (part === null ? 0 : Buffer.byteLength(part));
