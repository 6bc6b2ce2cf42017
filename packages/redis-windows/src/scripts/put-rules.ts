import { z } from 'zod';
import { defineScript } from '../define-script.ts';

export const putRules = defineScript({
  name: 'put-rules',
  keys: ['rules'],
  args: ['expectedVersion', 'version', 'json'],
  reply: (raw) => z.number().parse(raw),
});
