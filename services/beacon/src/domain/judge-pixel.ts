import { instantSchema } from '@adcap/contracts';
import { judgeItem } from './judge-item.ts';
import type { Judgement } from './judgement.ts';
import { type PixelQuery, pixelItem } from './pixel-item.ts';
import type { ItemContext } from './to-event.ts';

/** Judges the query of a pixel as the one item of a request would be. Never throws. */
export const judgePixel = (query: PixelQuery, context: Omit<ItemContext, 'sentAt'>): Judgement => {
  const { item, sentAt } = pixelItem(query, context.verifyReservation);
  if (sentAt === undefined) return judgeItem(item, context);
  const parsed = instantSchema.safeParse(sentAt);
  if (parsed.success) return judgeItem(item, { ...context, sentAt: parsed.data });
  const message = parsed.error.issues[0]?.message ?? 'is not an instant';
  return { kind: 'rejected', reason: 'invalid', fields: [{ field: 'sentAt', message }] };
};
