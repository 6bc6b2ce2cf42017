import type { Reservation } from '@adcap/rule-engine';
import {
  ID_BYTES,
  idBytes,
  packHead,
  readFingerprint,
  readHead,
  readId,
  readKey,
  readKeys,
  readTime,
  UINT48_BYTES,
  writeUint48,
} from './packed-fields.ts';

// Where each field starts. The scripts read id, break key, place (break key + slot + creative, 15 bytes)
// and granted here.
const ID = 1;
const BREAK_KEY = 9;
const SLOT = 17;
const CREATIVE = 18;
const CAMPAIGN = 24;
const BRAND = 30;
const AT = 36;
const EXPIRES_AT = 42;
const GRANTED_AT = 48;
const INDUSTRIES = 54;
const FORMAT = { version: 2, fixedBytes: INDUSTRIES };
const PLACE_BYTES = CREATIVE + UINT48_BYTES - BREAK_KEY;
const MAX_SLOT = 255;

/**
 * The bytes of a member of `r`. The expiry is inside as well as in the score: asking for scores makes Redis format a
 * float a member, which costs more than the rest of the read. Equal reservations are equal bytes, so one that was read
 * can be removed.
 */
export const encodeReservation = (reservation: Reservation): Buffer => {
  const { industries } = reservation;
  const bytes = Buffer.allocUnsafe(INDUSTRIES + industries.length * UINT48_BYTES);
  bytes[0] = packHead(FORMAT.version, industries.length);
  idBytes(reservation.id).copy(bytes, ID);
  idBytes(reservation.breakKey).copy(bytes, BREAK_KEY);
  bytes.writeUInt8(reservation.slot, SLOT);
  writeUint48(bytes, reservation.creative, CREATIVE);
  writeUint48(bytes, reservation.campaign, CAMPAIGN);
  writeUint48(bytes, reservation.brand, BRAND);
  writeUint48(bytes, reservation.at, AT);
  writeUint48(bytes, reservation.expiresAt, EXPIRES_AT);
  writeUint48(bytes, reservation.grantedAt, GRANTED_AT);
  let offset = INDUSTRIES;
  for (const industry of industries) offset = writeUint48(bytes, industry, offset);
  return bytes;
};

/** The reservations of a device, from its members one after the other in one blob. */
export const decodeReservations = (blob: Buffer): Reservation[] => {
  const reservations: Reservation[] = [];
  let offset = 0;
  while (offset < blob.length) {
    const industries = readHead(blob, offset, FORMAT);
    reservations.push({
      id: readFingerprint(blob, offset + ID),
      breakKey: readId(blob, offset + BREAK_KEY),
      slot: blob.readUInt8(offset + SLOT),
      creative: readKey(blob, offset + CREATIVE),
      campaign: readKey(blob, offset + CAMPAIGN),
      brand: readKey(blob, offset + BRAND),
      at: readTime(blob, offset + AT),
      expiresAt: readTime(blob, offset + EXPIRES_AT),
      grantedAt: readTime(blob, offset + GRANTED_AT),
      industries: readKeys(blob, offset + INDUSTRIES, industries),
    });
    offset += INDUSTRIES + industries * UINT48_BYTES;
  }
  return reservations;
};

/**
 * Where an impression was shown, as the 15 bytes by which a reservation of the same place is found; `undefined` where it
 * does not say.
 */
export const placeBytes = (place: {
  breakKey: string;
  slot: number | undefined;
  creative: number;
}): Buffer | undefined => {
  if (place.slot === undefined || place.slot > MAX_SLOT) return undefined;
  const bytes = Buffer.allocUnsafe(PLACE_BYTES);
  idBytes(place.breakKey).copy(bytes, 0);
  bytes.writeUInt8(place.slot, ID_BYTES);
  writeUint48(bytes, place.creative, ID_BYTES + 1);
  return bytes;
};
