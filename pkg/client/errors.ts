import type { Status } from '../api/index.ts';

type StatusDetails = NonNullable<Status['details']>;
type StatusCause = NonNullable<StatusDetails['causes']>[number];

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

  constructor(attempted: string, status: Status, retryAfterSeconds?: number) {
    const serverMessage = status.message ?? status.reason ?? `status ${status.code}`;
    super(`${attempted}: ${serverMessage}`);
    this.serverMessage = serverMessage;
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
  /** The system's code, such as ECONNREFUSED. */
  readonly code: string | undefined;
  /** The server may have received and executed the request. */
  readonly mayHaveBeenSent: boolean;

  constructor(message: string, options: { readonly mayHaveBeenSent: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.mayHaveBeenSent = options.mayHaveBeenSent;
    this.code = codeOf(options.cause);
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

function hasReason(error: unknown, ...wanted: readonly string[]): boolean {
  return error instanceof ApiError && wanted.includes(error.reason);
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
  error instanceof ApiError && (error.reason === 'TooManyRequests' || error.status === 429);
/** The server did not finish in time. The request may have taken effect. */
export const isTimeout = (error: unknown): error is ApiError => hasReason(error, 'Timeout');
/** The server could not finish the request now, and suggests a retry. */
export const isServerTimeout = (error: unknown): boolean => hasReason(error, 'ServerTimeout');
export const isServiceUnavailable = (error: unknown): boolean => hasReason(error, 'ServiceUnavailable');
export const isInternal = (error: unknown): boolean => hasReason(error, 'InternalError');
export const isInvalidName = (error: unknown): error is InvalidNameError => error instanceof InvalidNameError;
export const isConnectionError = (error: unknown): error is ConnectionError => error instanceof ConnectionError;

/** Whether the Status has this cause. */
export function hasCause(error: unknown, cause: string): boolean {
  return error instanceof ApiError && error.causes.some(({ reason }) => reason === cause);
}

/** A create was rejected because its namespace is terminating. A retry cannot succeed. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) && hasCause(error, 'NamespaceTerminating');

/** The server's watch cache has not reached the requested resource version yet. Retry a little later. */
export const isTooLargeResourceVersion = (error: unknown): boolean => hasCause(error, 'ResourceVersionTooLarge');

/** The message for conditions and events: the server's message if there is one, without ours around it. */
export function serverMessage(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApiError) return cause.serverMessage;
  }
  return error instanceof Error ? error.message : String(error);
}
