import { createRequire } from 'node:module';

/** What kafkajs 2.2.4 keeps a request queue's state in, as far as the replaced method touches it. */
type RequestQueue = {
  pending: readonly unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
};

/** As in kafkajs: how soon requests that wait for a free place are looked at again. */
const CHECK_PENDING_MS = 10;

let isPatched = false;

/**
 * Replaces one method of kafkajs's request queue. The original re-arms a timer for ever, also with nothing pending,
 * after `throttledUntil - now` milliseconds: a negative number, which Node runs as 1 ms (a busy timer for every
 * connection) and since version 22 reports as TimeoutNegativeWarning. The replacement arms it only while requests
 * wait; a request that comes later arms it itself.
 */
export const patchRequestQueueTimer = (): void => {
  if (isPatched) return;
  isPatched = true;
  const queue: { prototype: Record<string, unknown> } = createRequire(import.meta.url)(
    'kafkajs/src/network/requestQueue',
  );
  if (METHOD in queue.prototype) queue.prototype[METHOD] = scheduleCheckPendingRequests;
};

const METHOD = 'scheduleCheckPendingRequests';

function scheduleCheckPendingRequests(this: RequestQueue): void {
  if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
  const throttledForMs = this.throttledUntil - Date.now();
  const check = (): void => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  };
  this.throttleCheckTimeoutId = setTimeout(check, throttledForMs > 0 ? throttledForMs : CHECK_PENDING_MS);
}
