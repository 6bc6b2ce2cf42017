import { z } from 'zod';
import { defineScript } from '../define-script.ts';

const replySchema = z.tuple([z.number(), z.number(), z.number(), z.instanceof(Buffer)]);

export const eraseDevice = defineScript({
  name: 'erase-device',
  keys: ['history', 'window', 'reservations', 'meta'],
  args: ['metaTtlMs'],
  reply: (raw) => {
    const [history, window, reservations, breakKeys] = replySchema.parse(raw);
    return { history, window, reservations, breakKeys };
  },
});
