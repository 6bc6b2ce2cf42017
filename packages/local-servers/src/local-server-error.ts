export type LocalServerErrorCode =
  | 'JAVA_MISSING'
  | 'JAVA_TOO_OLD'
  | 'MAVEN_MISSING'
  | 'DOWNLOAD_FAILED'
  | 'PORT_TAKEN'
  | 'DID_NOT_START'
  | 'NO_BINARY'
  | 'DOCKER_FAILED';

/** Why a server could not be had, in one line that says what to do. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
  readonly code: LocalServerErrorCode;

  constructor(code: LocalServerErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
