import { impressionIdentity } from '@adcap/identity';
import type { NameMark } from '../domain/done-marks.ts';

/** The fingerprint of a moment holds its instant, which its twin does not share; this stands for all of them. */
const ANY_MOMENT = 0;

/** The fingerprint, or a hash of device and creative where only the moment tells views apart. */
export const nameMark: NameMark = ({ identity, fingerprint, deviceId, creativeId }) =>
  identity === 'moment'
    ? impressionIdentity({ deviceId, creativeId, at: ANY_MOMENT }).fingerprint
    : fingerprint;
