import { type Fingerprint, NO_VALUE, type ValueKey } from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import type { View } from '@adcap/rule-engine';
import {
  idBytes,
  packHead,
  readFingerprint,
  readHead,
  readKey,
  readKeys,
  readTime,
  UINT48_BYTES,
  writeUint48,
} from './packed-fields.ts';

/** What `w` holds of one impression. */
export type WindowMember = View & { fingerprint: Fingerprint };

// Where each field starts. apply-window.lua and trim-device.lua read the fingerprint and the creative at these places.
const AT = 1;
const FINGERPRINT = 7;
const CREATIVE = 15;
const CAMPAIGN = 21;
const BRAND = 27;
const INDUSTRIES = 33;
const FORMAT = { version: 1, fixedBytes: INDUSTRIES };

/** The bytes of a member; two members with the same fields are the same bytes. */
export const encodeWindowMember = (member: WindowMember): Buffer => {
  const { industries } = member;
  const bytes = Buffer.allocUnsafe(INDUSTRIES + industries.length * UINT48_BYTES);
  bytes[0] = packHead(FORMAT.version, industries.length);
  writeUint48(bytes, member.at, AT);
  idBytes(member.fingerprint).copy(bytes, FINGERPRINT);
  writeUint48(bytes, member.creative, CREATIVE);
  writeUint48(bytes, member.campaign, CAMPAIGN);
  writeUint48(bytes, member.brand, BRAND);
  let offset = INDUSTRIES;
  for (const industry of industries) offset = writeUint48(bytes, industry, offset);
  return bytes;
};

/** The ids by which an impression is counted. */
type CountedIds = {
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
};

/** How an impression counts: its values as keys, repeated industries folded. */
export const viewOfImpression = (impression: CountedIds): Omit<View, 'at'> => ({
  creative: valueKeyOf(impression.creativeId),
  campaign: optionalKey(impression.campaignId),
  brand: optionalKey(impression.brandId),
  industries: keysOf(impression.industryIds),
});

const optionalKey = (value: string | undefined): ValueKey =>
  value === undefined ? NO_VALUE : valueKeyOf(value);

const keysOf = (values: readonly string[]): readonly ValueKey[] =>
  values.length < 2 ? values.map(valueKeyOf) : [...new Set(values.map(valueKeyOf))];

const viewAt = (blob: Buffer, offset: number, industries: number): View => ({
  at: readTime(blob, offset + AT),
  creative: readKey(blob, offset + CREATIVE),
  campaign: readKey(blob, offset + CAMPAIGN),
  brand: readKey(blob, offset + BRAND),
  industries: readKeys(blob, offset + INDUSTRIES, industries),
});

const memberAt = (blob: Buffer, offset: number, industries: number): WindowMember => ({
  ...viewAt(blob, offset, industries),
  fingerprint: readFingerprint(blob, offset + FINGERPRINT),
});

const decodeEach =
  <T>(decode: (blob: Buffer, offset: number, industries: number) => T) =>
  (blob: Buffer): T[] => {
    const decoded: T[] = [];
    let offset = 0;
    while (offset < blob.length) {
      const industries = readHead(blob, offset, FORMAT);
      decoded.push(decode(blob, offset, industries));
      offset += INDUSTRIES + industries * UINT48_BYTES;
    }
    return decoded;
  };

/** The views of a whole window, from its members one after the other in one blob; fingerprints cost, and few need them. */
export const decodeViews = decodeEach(viewAt);
export const decodeWindow = decodeEach(memberAt);

export const decodeWindowMember = (bytes: Buffer): WindowMember =>
  memberAt(bytes, 0, readHead(bytes, 0, FORMAT));
