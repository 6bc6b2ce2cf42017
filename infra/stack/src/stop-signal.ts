import { onLauncherGone } from './launcher.ts';
import { say } from './say.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What passes a Ctrl-C on may bring the same one twice. */
const SAME_PRESS_MS = 500;

/** Aborted by the first signal; one that comes later still ends the process at once, and with it what it has started. */
export const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  let first: number | undefined;
  const begin = (): void => {
    if (first !== undefined) return;
    first = performance.now();
    say('stopping');
    stop.abort();
  };
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (first !== undefined && performance.now() - first > SAME_PRESS_MS) process.exit(1);
      begin();
    });
  }
  onLauncherGone(begin);
  return stop.signal;
};
