import { setTimeout as delay } from 'node:timers/promises';

const START_DEADLINE_MS = 60_000;
const POLL_MS = 50;

/** Asks a server until it answers. Gives nothing then, else why it did not: what `ended` says, or that time is up. */
export const whyNotAnswering = async (
  answers: () => Promise<void>,
  ended: () => string | undefined = () => undefined,
): Promise<string | undefined> => {
  const deadline = performance.now() + START_DEADLINE_MS;
  for (;;) {
    const answered = await answers().then(
      () => true,
      () => false,
    );
    const why = ended();
    if (why !== undefined) return why;
    if (answered) return undefined;
    if (performance.now() > deadline) return `it did not answer within ${START_DEADLINE_MS / 1_000} s`;
    await delay(POLL_MS);
  }
};
