import { deviceTag } from '@adcap/identity';

/** A device in the audit trail: never by what the platform calls it. */
export const deviceTarget = (deviceId: string): string => `device:${deviceTag(deviceId)}`;
