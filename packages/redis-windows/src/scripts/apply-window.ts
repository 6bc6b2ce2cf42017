import { z } from 'zod';
import { defineScript } from '../define-script.ts';

export const applyWindow = defineScript({
  name: 'apply-window',
  keys: ['window', 'reservations', 'meta'],
  args: ['keepMs', 'metaTtlMs', 'sameMomentMs'],
  each: ['at', 'receivedAt', 'isMoment', 'place', 'record'],
  reply: (raw) => z.array(z.number()).parse(raw),
});
