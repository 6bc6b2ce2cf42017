import { z } from 'zod';
import { defineScript } from '../define-script.ts';

export const commitReservations = defineScript({
  name: 'commit-reservations',
  keys: ['meta', 'reservations', 'pod'],
  args: ['expectedVersion', 'notAfterMs', 'liveLimit', 'metaTtlMs', 'storedPod', 'podExpiresAtMs'],
  each: ['expiresAtMs', 'member'],
  reply: (raw) => z.number().parse(raw),
});
