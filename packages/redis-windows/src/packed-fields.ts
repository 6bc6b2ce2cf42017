import {
  type EpochMs,
  epochMs,
  type Fingerprint,
  fingerprint,
  type ValueKey,
  valueKey,
} from '@adcap/contracts';
import { StoredFormatError } from './stored-format-error.ts';

/** The fields that packed members are made of. Times and value keys take 6 bytes, ids 8, all big-endian. */
export const UINT48_BYTES = 6;
export const ID_BYTES = 8;

const HIGH = 2 ** 32;
/** The first byte of a member: the format's version in the high 3 bits, the number of industries in the low 5. */
const COUNT_BITS = 5;
const MAX_COUNT = 2 ** COUNT_BITS - 1;

export const packHead = (version: number, industries: number): number => {
  if (industries > MAX_COUNT)
    throw new StoredFormatError(`${industries} industries do not fit into a member`);
  return (version << COUNT_BITS) | industries;
};

/** A format of packed members: its version and the length of a member without its industries. */
export type PackedFormat = { version: number; fixedBytes: number };

/** The number of industries of the member that starts at `offset`, all of which is there. */
export const readHead = (blob: Buffer, offset: number, format: PackedFormat): number => {
  const head = blob[offset];
  if (head === undefined || head >> COUNT_BITS !== format.version)
    throw new StoredFormatError(`a stored member is not of format ${format.version}`);
  const industries = head & MAX_COUNT;
  if (offset + format.fixedBytes + industries * UINT48_BYTES > blob.length)
    throw new StoredFormatError('a stored member is cut short');
  return industries;
};

export const writeUint48 = (buffer: Buffer, value: number, offset: number): number =>
  buffer.writeUIntBE(value, offset, UINT48_BYTES);

const readUint48 = (buffer: Buffer, offset: number): number =>
  buffer.readUInt16BE(offset) * HIGH + buffer.readUInt32BE(offset + 2);

export const readTime = (buffer: Buffer, offset: number): EpochMs => epochMs(readUint48(buffer, offset));
export const readKey = (buffer: Buffer, offset: number): ValueKey => valueKey(readUint48(buffer, offset));

export const readKeys = (buffer: Buffer, offset: number, count: number): ValueKey[] => {
  const keys: ValueKey[] = [];
  for (let index = 0; index < count; index += 1) keys.push(readKey(buffer, offset + index * UINT48_BYTES));
  return keys;
};

/** The 8 bytes behind 11 base64url characters (a fingerprint or a break's key). */
export const idBytes = (id: string): Buffer => {
  const bytes = Buffer.from(id, 'base64url');
  if (bytes.length !== ID_BYTES) throw new StoredFormatError('an id is not 8 bytes of base64url');
  return bytes;
};

export const readId = (buffer: Buffer, offset: number): string =>
  buffer.toString('base64url', offset, offset + ID_BYTES);

export const readFingerprint = (buffer: Buffer, offset: number): Fingerprint =>
  fingerprint(readId(buffer, offset));

/** Ids one after the other. */
export const readIds = (blob: Buffer): string[] => {
  const ids: string[] = [];
  for (let offset = 0; offset < blob.length; offset += ID_BYTES) ids.push(readId(blob, offset));
  return ids;
};
