import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Answered } from './answered.ts';
import { askFor } from './asking.ts';
import type { LoadPlan, LoadReport } from './load.ts';
import { readAnswer, SAID_NOTHING } from './read-answer.ts';
import type { Standstill } from './standstill.ts';

/*
 * The load, on a thread of its own: an open loop. Each decision is sent when the schedule says so, however long the ones before it
 * take. A thread that was held up for a moment sends what is overdue at once; after a standstill the schedule begins anew, as no
 * flood of thousands was meant.
 */

const plan: LoadPlan = workerData;
const port = parentPort;
if (port === null) throw new Error('this is the code of a worker');

/** After so long an answer is none. */
const PATIENCE_MS = 60_000;
/** A thread that was held up for longer has seen the machine stand still. */
const STANDSTILL_MS = 250;
const REPORT_EVERY_MS = 100;
/** So that a standstill is seen at any rate. */
const LONGEST_WAIT_MS = 50;

/** As a caller has a pool: thousands of connections at once would overflow the queue of the listener. */
const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 256 });
const target = new URL('/v1/selections', plan.url);
const nowMs = (): number => performance.timeOrigin + performance.now();

let finished: Answered[] = [];
let standstills: Standstill[] = [];
let inFlight = 0;
const stop = new AbortController();
port.on('message', () => stop.abort());

type Sent = Pick<Answered, 'deviceId' | 'breakAt' | 'dueAt' | 'sentAt'>;
type Outcome = Omit<Answered, keyof Sent | 'doneAt'>;

/** Notes how a decision ended, once: a broken answer is told by the call and by the response. */
const finisher = (sent: Sent): ((outcome: Outcome) => void) => {
  let isFinished = false;
  return (outcome) => {
    if (isFinished) return;
    isFinished = true;
    inFlight -= 1;
    finished.push({ ...sent, doneAt: nowMs(), ...outcome });
  };
};

/** The server may close a kept connection while it is being used again; that is no answer of the service. */
const isStaleConnection = (call: ClientRequest, error: Error): boolean =>
  call.reusedSocket && 'code' in error && error.code === 'ECONNRESET';

const post = (body: string, finish: (outcome: Outcome) => void): void => {
  const fail = (error: Error): void => finish({ status: 0, ...SAID_NOTHING, problem: error.message });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const call = request(target, { method: 'POST', agent, timeout: PATIENCE_MS, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', fail);
    response.on('end', () =>
      finish({ status: response.statusCode ?? 0, ...readAnswer(Buffer.concat(chunks).toString()) }),
    );
  });
  call.on('timeout', () => call.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
  call.on('error', (error) => (isStaleConnection(call, error) ? post(body, finish) : fail(error)));
  call.end(body);
};

const send = (index: number, dueAt: number): void => {
  const deviceId = `${plan.devicePrefix}${index % plan.devices}`;
  const breakId = `${plan.devicePrefix}break-${index}`;
  const breakAt = plan.breakAt + index;
  inFlight += 1;
  post(
    JSON.stringify(askFor(index, { deviceId, breakId, breakAt })),
    finisher({ deviceId, breakAt, dueAt, sentAt: nowMs() }),
  );
};

const report = (): void => {
  const found: LoadReport = { answered: finished, standstills };
  port.postMessage(found);
  finished = [];
  standstills = [];
};

const everyMs = 1_000 / plan.rate;
const reporter = setInterval(report, REPORT_EVERY_MS);
let dueAt = nowMs();
let seenAt = dueAt;
for (let next = 0; !stop.signal.aborted; ) {
  const now = nowMs();
  if (now - seenAt > STANDSTILL_MS) {
    standstills.push({ from: seenAt, to: now });
    dueAt = now;
  }
  seenAt = now;
  for (; dueAt <= now; dueAt += everyMs) {
    send(next, dueAt);
    next += 1;
  }
  // oxlint-disable-next-line no-await-in-loop -- the schedule is made of waits
  await delay(Math.min(LONGEST_WAIT_MS, Math.max(0, dueAt - nowMs())));
}
// oxlint-disable-next-line no-await-in-loop, no-unmodified-loop-condition -- callbacks change it
while (inFlight > 0) await delay(10);
clearInterval(reporter);
report();
agent.destroy();
port.close();
