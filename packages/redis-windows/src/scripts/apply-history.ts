import { z } from 'zod';
import { defineScript } from '../define-script.ts';

export const applyHistory = defineScript({
  name: 'apply-history',
  keys: ['history', 'reservations', 'meta'],
  args: ['keepMs', 'metaTtlMs', 'sameMomentMs'],
  each: ['at', 'receivedAt', 'isMoment', 'place', 'fingerprint', 'creativeId', 'record'],
  reply: (raw) => z.array(z.number()).parse(raw),
});
