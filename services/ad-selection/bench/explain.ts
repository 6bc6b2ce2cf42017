import { decisionOf, microseconds, say } from './decisions.ts';

/*
 * What `explain: true` costs. Decides without Redis and HTTP, then writes the answer as JSON, with and without; an
 * operator is also told when what counted was watched.
 */

for (const candidates of [20, 100]) {
  let plain: number | undefined;
  for (const explain of ['nothing', 'rules', 'impressions'] as const) {
    const decide = decisionOf(candidates, explain);
    const { answer } = decide();
    const decided = microseconds(decide);
    const written = microseconds(() => JSON.stringify(answer));
    plain ??= decided + written;
    const times = ((decided + written) / plain).toFixed(2);
    say(
      `${candidates} candidates, explain ${explain}: ${decided.toFixed(0)} µs to decide, ${written.toFixed(0)} µs as JSON, ${JSON.stringify(answer).length} bytes, ×${times}`,
    );
  }
}
