import { z } from 'zod';
import { defineScript } from '../define-script.ts';

const replySchema = z.tuple([z.number(), z.number(), z.number(), z.number()]);

export const trimDevice = defineScript({
  name: 'trim-device',
  keys: ['window', 'history', 'reservations', 'meta'],
  args: ['cutoffMs', 'keepMs', 'metaTtlMs', 'keepNewest', 'stepLimit'],
  reply: (raw) => {
    const [window, history, reservations, isMore] = replySchema.parse(raw);
    return { window, history, reservations, isMore: isMore === 1 };
  },
});
