import { ApiError, ConfigError, ConnectionError, isUnauthorized, type Client } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import { formatDuration, TimeLimitError, withTimeLimit, type Clock } from '../time/index.ts';
import { ManagerError } from './errors.ts';

/** The Go binary waits equally long: the API server and the controller manager often start together. */
const waitLimitMs = 10_000;
const retryMs = 250;
/** Time between two log messages while waiting. */
const remindMs = 10_000;
/** Time limit of one request. If a server hangs, the next request may reach another server at the same address. */
const answerLimitMs = 5000;

export interface WaitOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The address of the API server, for messages. */
  readonly server: string;
  /** Wait without a time limit. */
  readonly patient: boolean;
}

/**
 * Waits until the API server is healthy. Throws a `ManagerError` at once if waiting cannot help: the server is not
 * trusted, or does not accept the credentials. Unless `patient`, throws after 10 s without a healthy response.
 */
export async function waitForApiServer(
  client: Pick<Client, 'request'>,
  { clock, logger, server, patient }: WaitOptions,
  signal: AbortSignal,
): Promise<void> {
  const startedMs = clock.monotonic();
  let remindAtMs = startedMs;
  for (;;) {
    const problem = await probe(client, clock, signal);
    signal.throwIfAborted();
    if (problem === undefined) return;
    const { message, final, cause } = problem;
    if (final) throw new ManagerError('ApiServerUnavailable', `API server ${server}: ${message}`, { cause });
    const nowMs = clock.monotonic();
    if (!patient && nowMs - startedMs >= waitLimitMs) {
      const text = `API server ${server}: not healthy within ${formatDuration(waitLimitMs)}: ${message}`;
      throw new ManagerError('ApiServerUnavailable', text, { cause });
    }
    if (nowMs >= remindAtMs) {
      logger.warn({ server, err: cause }, 'waiting for the API server');
      remindAtMs = nowMs + remindMs;
    }
    await clock.sleep(retryMs, signal);
  }
}

interface Problem {
  readonly message: string;
  /** Waiting cannot help. */
  readonly final: boolean;
  readonly cause: unknown;
}

async function probe(client: Pick<Client, 'request'>, clock: Clock, signal: AbortSignal): Promise<Problem | undefined> {
  const ask = (limited: AbortSignal): Promise<unknown> => client.request({ method: 'GET', path: '/healthz' }, limited);
  try {
    await withTimeLimit({ clock, limitMs: answerLimitMs }, ask, signal);
    return undefined;
  } catch (cause) {
    if (isUnauthorized(cause)) return { message: 'does not accept the credentials', final: true, cause };
    // The server answered, but we may not read /healthz. The controllers may still have all permissions they need.
    if (cause instanceof ApiError)
      return cause.status < 500 ? undefined : { message: cause.message, final: false, cause };
    if (cause instanceof ConnectionError) return { message: cause.message, final: isDistrust(cause.code), cause };
    if (cause instanceof TimeLimitError) return { message: cause.message, final: false, cause };
    if (cause instanceof ConfigError) throw new ManagerError('UnusableConfiguration', cause.message, { cause });
    throw cause;
  }
}

/** Whether OpenSSL or Node refused the certificate, for any reason. */
function isDistrust(code: string | undefined): boolean {
  return code !== undefined && /^ERR_TLS_|CERT|SIGNATURE|ERR_SSL_|ISSUER/.test(code);
}
