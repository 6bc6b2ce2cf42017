import { sha256 } from './sha256.ts';

const TAG_BYTES = 12;

/**
 * The 16 base64url characters that stand for a device in every Redis key: no raw id, brace or odd character gets there,
 * and all keys of one device share a slot.
 */
export const deviceTag = (deviceId: string): string => sha256(deviceId).toString('base64url', 0, TAG_BYTES);
