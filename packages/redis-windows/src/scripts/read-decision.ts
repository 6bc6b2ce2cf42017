import { z } from 'zod';
import { defineScript } from '../define-script.ts';

const bytes = z.instanceof(Buffer);

const replySchema = z.tuple([z.number(), z.number(), bytes.nullable(), bytes, z.number(), bytes]);

export const readDecision = defineScript({
  name: 'read-decision',
  keys: ['window', 'history', 'reservations', 'meta', 'pod'],
  args: ['sinceMs'],
  reply: (raw) => {
    const [nowMs, version, storedPod, members, historyCount, reservations] = replySchema.parse(raw);
    return { nowMs, version, storedPod, members, historyCount, reservations };
  },
});
