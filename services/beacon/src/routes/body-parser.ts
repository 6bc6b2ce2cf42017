import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError, LIMITS } from '@adcap/contracts';
import type { HttpServer } from '@adcap/service-runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

const unzip = promisify(gunzip);

const TYPES = /^\s*(?:application\/json|text\/plain)\s*(?:;|$)/i;

const wrongType = (): AppError =>
  new AppError(
    'ADCAP_REQUEST_MEDIA_TYPE',
    'Send the body as application/json, as text/plain or without a type.',
  );

/** Before the body is read: a request whose body would be refused need not be sent to its end. */
export const refuseOtherEncodings = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const type = request.headers['content-type'];
  if (type !== undefined && !TYPES.test(type)) throw wrongType();
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === 'gzip') return;
  reply.header('accept-encoding', 'gzip');
  throw new AppError('ADCAP_REQUEST_MEDIA_TYPE', 'Send the body as it is or with Content-Encoding: gzip.');
};

/** The limit holds for what comes out, so that a small body cannot unfold into a large one. */
const decoded = async (request: FastifyRequest, body: Buffer): Promise<Buffer> => {
  if (request.headers['content-encoding']?.trim().toLowerCase() !== 'gzip') return body;
  try {
    return await unzip(body, { maxOutputLength: LIMITS.bodyBytes });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw new AppError('ADCAP_REQUEST_TOO_LARGE', `A decoded body has at most ${LIMITS.bodyBytes} bytes.`);
    }
    throw new AppError('ADCAP_REQUEST_MALFORMED', 'The body is not valid gzip.', { cause });
  }
};

/**
 * Reads JSON whatever it is called: `navigator.sendBeacon` sends text/plain or no type, and a page may send these to
 * another origin without asking first.
 */
export const addBodyParser = (server: HttpServer): void => {
  const parseWithCallback = server.getDefaultJsonParser('error', 'error');
  const parseJson = (request: FastifyRequest, text: string): Promise<unknown> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    void parseWithCallback(request, text, (error, value) =>
      error === null ? resolve(value) : reject(error),
    );
    return promise;
  };
  server.removeContentTypeParser('application/json');
  server.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
    parseJson(request, (await decoded(request, body)).toString('utf8')),
  );
};
