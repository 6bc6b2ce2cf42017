import { z } from 'zod';
import { defineScript } from '../define-script.ts';

const bytes = z.instanceof(Buffer);

const replySchema = z.tuple([z.number(), z.number(), bytes.nullable(), bytes, z.number(), bytes, bytes]);

export const readDecision = defineScript({
  name: 'read-decision',
  keys: ['window', 'history', 'reservations', 'meta', 'pod'],
  args: ['sinceMs', 'withHistory'],
  reply: (raw) => {
    const [nowMs, version, storedPod, members, isComplete, reservations, records] = replySchema.parse(raw);
    return { nowMs, version, storedPod, members, isComplete: isComplete === 1, reservations, records };
  },
});
