import { describe, expect, test } from 'vitest';

import { ApiError, ConnectionError } from '../client/index.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { RecordingLogger, silentLogger } from '../../test/support/loggers.ts';
import { waitForApiServer, type WaitOptions } from './api-server.ts';

function connectionError(code: string): ConnectionError {
  const cause = Object.assign(new Error(code), { code });
  return new ConnectionError(`connect: ${code}`, { mayHaveBeenSent: false, cause });
}

function refusal(code: number, reason: string): ApiError {
  return new ApiError('get /healthz', { code, reason, message: reason });
}

/** Responds with each error in turn, the last one for ever; undefined is a healthy response. */
async function wait(...answers: (Error | undefined)[]): Promise<{ error: unknown; tookMs: number }> {
  return waitWith({ patient: false, logger: silentLogger }, answers);
}

async function waitWith(
  options: Pick<WaitOptions, 'patient' | 'logger'>,
  answers: readonly (Error | undefined)[],
): Promise<{ error: unknown; tookMs: number }> {
  const clock = new FakeClock();
  let asked = 0;
  const request = async (): Promise<unknown> => {
    const answer = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    if (answer !== undefined) throw answer;
    return 'ok';
  };
  const signal = new AbortController().signal;
  let error: unknown;
  const waiting = waitForApiServer({ request }, { clock, server: 'https://x', ...options }, signal).catch(
    (caught: unknown) => (error = caught),
  );
  await settle();
  while (clock.nextTimerMs !== undefined) await clock.advance(clock.nextTimerMs);
  await waiting;
  return { error, tookMs: clock.monotonic() };
}

describe('waitForApiServer', () => {
  test('returns at once when the server is healthy', async () => {
    expect(await wait(undefined)).toEqual({ error: undefined, tookMs: 0 });
  });

  test('waits for a server that is starting', async () => {
    const refused = connectionError('ECONNREFUSED');
    expect(await wait(refused, refusal(500, 'InternalError'), undefined)).toEqual({ error: undefined, tookMs: 500 });
  });

  test('gives up after ten seconds with the reason', async () => {
    const { error, tookMs } = await wait(connectionError('ECONNREFUSED'));
    expect(tookMs).toBe(10_000);
    expect(error).toMatchObject({ reason: 'ApiServerUnavailable', message: expect.stringContaining('ECONNREFUSED') });
  });

  test('a patient one keeps waiting, and logs at once and every ten seconds', async () => {
    const logger = new RecordingLogger();
    const answers = [...Array<Error>(100).fill(connectionError('ECONNREFUSED')), undefined];
    const result = await waitWith({ patient: true, logger }, answers);
    expect(result).toEqual({ error: undefined, tookMs: 25_000 });
    expect(logger.lines.map(({ level, message }) => `${level} ${message}`)).toEqual(
      Array<string>(3).fill('warn waiting for the API server'),
    );
  });

  test('a patient one does not wait for a server that refuses the credentials', async () => {
    const { error } = await waitWith({ patient: true, logger: silentLogger }, [refusal(401, 'Unauthorized')]);
    expect(error).toMatchObject({ reason: 'ApiServerUnavailable' });
  });

  test('treats a server that only forbids /healthz as healthy', async () => {
    expect((await wait(refusal(403, 'Forbidden'))).error).toBeUndefined();
  });

  for (const answer of [
    refusal(401, 'Unauthorized'),
    connectionError('SELF_SIGNED_CERT_IN_CHAIN'),
    connectionError('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    connectionError('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
    connectionError('ERR_TLS_CERT_ALTNAME_INVALID'),
    connectionError('CERT_HAS_EXPIRED'),
  ]) {
    test(`does not wait after ${answer.message}`, async () => {
      const { error, tookMs } = await wait(answer);
      expect(tookMs).toBe(0);
      expect(error).toMatchObject({ reason: 'ApiServerUnavailable' });
    });
  }
});
