import { ApiError, ConfigError, ConnectionError, isUnauthorized, type Client } from '../../pkg/client/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { formatDuration, TimeLimitError, withTimeLimit, type Clock } from '../../pkg/time/index.ts';
import { exitCodes, StartupError } from './exit-codes.ts';

/** As long as the Go binary waits: API server and controller manager are often started together. */
const waitLimitMs = 10_000;
const retryMs = 250;
/** How often to say that we are still waiting. */
const remindMs = 10_000;
/** For one answer: a server that hangs is asked again, in case another one stands behind the same address. */
const answerLimitMs = 5000;

export interface WaitOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Its address, for messages. */
  readonly server: string;
  /** Wait for as long as it takes, not just for a while. */
  readonly patient: boolean;
}

/**
 * Returns once the API server says that it is healthy. Throws a `StartupError` at once when waiting cannot help,
 * because it is not to be trusted or does not know us, and after a while, unless patient, when it does not answer.
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
    if (final) throw new StartupError(exitCodes.apiServer, `API server ${server}: ${message}`, { cause });
    const nowMs = clock.monotonic();
    if (!patient && nowMs - startedMs >= waitLimitMs) {
      const text = `API server ${server}: not healthy within ${formatDuration(waitLimitMs)}: ${message}`;
      throw new StartupError(exitCodes.apiServer, text, { cause });
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
  /** Waiting will not cure it. */
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
    // It spoke, and not about its health: whoever may not see that may still be allowed all that matters.
    if (cause instanceof ApiError)
      return cause.status < 500 ? undefined : { message: cause.message, final: false, cause };
    if (cause instanceof ConnectionError) return { message: cause.message, final: isDistrust(cause.code), cause };
    if (cause instanceof TimeLimitError) return { message: cause.message, final: false, cause };
    if (cause instanceof ConfigError) throw new StartupError(exitCodes.environment, cause.message, { cause });
    throw cause;
  }
}

/** The codes by which OpenSSL and Node refuse a certificate, whatever the reason. */
function isDistrust(code: string | undefined): boolean {
  return code !== undefined && /^ERR_TLS_|CERT|SIGNATURE|ERR_SSL_|ISSUER/.test(code);
}
