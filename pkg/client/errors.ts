import type { Status } from '../api/index.ts';
import { ProtobufError } from '../protobuf/index.ts';

type StatusDetails = NonNullable<Status['details']>;
type StatusCause = NonNullable<StatusDetails['causes']>[number];

/** What is known of an error response besides its Status. */
interface Response {
  readonly retryAfterSeconds?: number | undefined;
  readonly plainText?: string | undefined;
  readonly namespace?: string | undefined;
}

/** An error response of the server. Use the predicates below, never the message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The reason in the Status: `NotFound`, `AlreadyExists`, `Conflict` … */
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** How long the server asks the client to wait before a retry. */
  readonly retryAfterSeconds: number | undefined;
  /** For an expired continue token: a token that continues the list at a newer resource version. */
  readonly continue: string | undefined;
  /** The message of the server alone, for conditions and events. */
  readonly serverMessage: string;
  /** The text of a response that was not a Status, as of a proxy or for a path that is not served. */
  readonly plainText: string | undefined;
  /** The namespace of the request. Undefined if it had none. */
  readonly namespace: string | undefined;

  constructor(attempted: string, status: Status, { retryAfterSeconds, plainText, namespace }: Response = {}) {
    const serverMessage = status.message ?? status.reason ?? `status ${status.code}`;
    super(`${attempted}: ${serverMessage}`);
    this.serverMessage = serverMessage;
    this.plainText = plainText;
    this.namespace = namespace;
    this.status = status.code ?? 0;
    this.reason = status.reason ?? reasonOfCode(this.status);
    this.details = status.details;
    this.retryAfterSeconds = status.details?.retryAfterSeconds ?? retryAfterSeconds;
    this.continue = status.metadata?.continue;
  }

  get causes(): readonly StatusCause[] {
    return this.details?.causes ?? [];
  }
}

/** The server could not be reached, or the connection was lost before the response. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly reason = 'ConnectionFailed';
  /** The system's code, such as ECONNREFUSED. Timeouts of the client have ETIMEDOUT too. */
  readonly code: string | undefined;
  /** The server may have received and executed the request. */
  readonly mayHaveBeenSent: boolean;

  constructor(message: string, options: ConnectionErrorOptions) {
    super(message, { cause: options.cause });
    this.mayHaveBeenSent = options.mayHaveBeenSent;
    this.code = options.code ?? codeOf(options.cause);
  }
}

interface ConnectionErrorOptions {
  readonly mayHaveBeenSent: boolean;
  /** Default: that of the cause. */
  readonly code?: string;
  readonly cause?: unknown;
}

/** The end of a connection, as the cause of a `ConnectionError`. It has the system's code for the same event. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError';
  readonly reason = 'ConnectionClosed';
  readonly code: 'ECONNRESET' | 'ETIMEDOUT';

  constructor(message: string, code: 'ECONNRESET' | 'ETIMEDOUT' = 'ECONNRESET') {
    super(message);
    this.code = code;
  }
}

/** The client was closed before the request. It is not retried: it cannot succeed. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';
  readonly reason = 'ClientClosed';

  constructor() {
    super('the client has been closed');
  }
}

/** No object can have such a name. The request was not sent: its path would have meant something else. */
export class InvalidNameError extends Error {
  override readonly name = 'InvalidNameError';
  readonly reason = 'InvalidName';
}

/** The credentials or the address of the server cannot be used as configured. The message names the field, in one line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly reason = 'InvalidConfig';
}

/** The server has answered with something that cannot be read. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly reason = 'UnreadableAnswer';
}

/** Says what was attempted, where the error of a request does not. The predicates below look at the cause. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly reason = 'AttemptFailed';

  constructor(attempted: string, cause: unknown) {
    super(attempted, { cause });
  }
}

function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

/** Reasons by HTTP status, for responses without a Status, as those of proxies. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function reasonOfCode(code: number): string {
  return reasons[code] ?? 'Unknown';
}

/** A cause can be part of a cycle. No error of ours has this many causes. */
const maxCauses = 16;

/** The first error of a class among an error and its causes. */
export function findError<E extends Error>(error: unknown, type: abstract new (...args: never[]) => E): E | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < maxCauses; depth++, cause = cause.cause) {
    if (cause instanceof type) return cause;
  }
  return undefined;
}

/** The server's refusal that an error is, or was caused by. */
export function apiErrorOf(error: unknown): ApiError | undefined {
  return findError(error, ApiError);
}

/** The loss of the server that an error is, or was caused by. */
export function connectionErrorOf(error: unknown): ConnectionError | undefined {
  return findError(error, ConnectionError);
}

/** All predicates look through `cause`: an error that says what was attempted is still the refusal that it wraps. */
function hasReason(error: unknown, ...wanted: readonly string[]): boolean {
  const refusal = apiErrorOf(error);
  return refusal !== undefined && wanted.includes(refusal.reason);
}

export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound');
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists');
/** The object has changed since it was read, or a precondition does not hold. */
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict');
/** The resource version or continue token is too old: list again. */
export const isExpired = (error: unknown): boolean => hasReason(error, 'Expired', 'Gone');
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden');
export const isUnauthorized = (error: unknown): boolean => hasReason(error, 'Unauthorized');
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid');
export const isBadRequest = (error: unknown): boolean => hasReason(error, 'BadRequest');
export const isMethodNotSupported = (error: unknown): boolean => hasReason(error, 'MethodNotAllowed');
/** The server does not support this type of patch or body for the resource. */
export const isUnsupportedMediaType = (error: unknown): boolean => hasReason(error, 'UnsupportedMediaType');
export const isNotAcceptable = (error: unknown): boolean => hasReason(error, 'NotAcceptable');
export const isTooManyRequests = (error: unknown): boolean =>
  hasReason(error, 'TooManyRequests') || apiErrorOf(error)?.status === 429;
/** The server did not finish in time. The request may have taken effect. */
export const isTimeout = (error: unknown): boolean => hasReason(error, 'Timeout');
/** The server could not finish the request now, and suggests a retry. */
export const isServerTimeout = (error: unknown): boolean => hasReason(error, 'ServerTimeout');
export const isServiceUnavailable = (error: unknown): boolean => hasReason(error, 'ServiceUnavailable');
export const isInternal = (error: unknown): boolean => hasReason(error, 'InternalError');
export const isInvalidName = (error: unknown): boolean => findError(error, InvalidNameError) !== undefined;
export const isConnectionError = (error: unknown): boolean => connectionErrorOf(error) !== undefined;
export const isClientClosed = (error: unknown): boolean => findError(error, ClientClosedError) !== undefined;

export const isProtobufError = (error: unknown): boolean => findError(error, ProtobufError) !== undefined;
/** What the server sent is not what its content type says. It would send the same again. */
export const isUndecodable = (error: unknown): boolean =>
  isProtobufError(error) || findError(error, SyntaxError) !== undefined;

/** Whether the Status has this cause. */
export function hasCause(error: unknown, cause: string): boolean {
  return apiErrorOf(error)?.causes.some(({ reason }) => reason === cause) === true;
}

/** A create was rejected because its namespace is terminating. A retry cannot succeed while the namespace exists. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) && hasCause(error, 'NamespaceTerminating');

/** The namespace that has rejected a create because it is terminating. */
export function terminatingNamespaceOf(error: unknown): string | undefined {
  return isNamespaceTerminating(error) ? apiErrorOf(error)?.namespace : undefined;
}

/** The server's watch cache has not reached the requested resource version yet. Retry a little later. */
export const isTooLargeResourceVersion = (error: unknown): boolean => hasCause(error, 'ResourceVersionTooLarge');

/** The message for conditions and events: the server's message if there is one, without ours around it. */
export function serverMessage(error: unknown): string {
  return apiErrorOf(error)?.serverMessage ?? (error instanceof Error ? error.message : String(error));
}
