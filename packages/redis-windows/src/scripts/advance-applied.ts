import { z } from 'zod';
import { defineScript } from '../define-script.ts';

export const advanceApplied = defineScript({
  name: 'advance-applied',
  keys: ['applied'],
  args: ['partition', 'expectedOffset', 'nextOffset', 'asOfMs'],
  reply: (raw) => z.number().parse(raw),
});
