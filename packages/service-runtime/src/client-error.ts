import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '@adcap/contracts';
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts';

/** Refusals below HTTP keep the status that says what happened; their code is the general one. */
const TRANSPORT_REFUSALS: Readonly<Record<string, { status: number; detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in time.' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The headers are too large.' },
};
const UNREADABLE = { status: 400, detail: 'This is not a readable HTTP request.' };

/** Node's own mark of the answer in progress; a second one must not be written into the middle of it. */
const isAnswering = (socket: Socket): boolean => {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse && message.headersSent;
};

/** Answers what never became a request (broken HTTP, a NUL in the path, a request that trickles in) and hangs up. */
export const answerClientError = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const { status, detail } = TRANSPORT_REFUSALS[error.code ?? ''] ?? UNREADABLE;
  const body = JSON.stringify({ ...problemOf(new AppError('ADCAP_REQUEST_MALFORMED', detail)), status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${PROBLEM_MEDIA_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
};
