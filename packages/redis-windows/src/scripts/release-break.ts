import { z } from 'zod';
import { defineScript } from '../define-script.ts';

export const releaseBreak = defineScript({
  name: 'release-break',
  keys: ['meta', 'reservations', 'pod'],
  args: ['breakKey', 'metaTtlMs'],
  reply: (raw) => z.number().parse(raw),
});
