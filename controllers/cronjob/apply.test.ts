import { describe, expect, test } from 'vitest';

import { InvalidNameError } from '../../pkg/client/index.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { isJobGone } from './apply.ts';

const signal = new AbortController().signal;

describe('a Job that is listed as active but not in the cache', () => {
  const ask = (answer: Error): Promise<boolean> => {
    const client = { get: () => Promise.reject(answer) };
    return isJobGone({ client } as unknown as Parameters<typeof isJobGone>[0], {}, signal);
  };

  test('is gone if the API server does not have it', async () => {
    expect(await ask(apiError(404, 'NotFound'))).toBe(true);
  });
  test('is gone if its name is invalid', async () => {
    expect(await ask(new InvalidNameError('a name is needed'))).toBe(true);
  });
  test('is not gone if the API server returns another error', async () => {
    const error = apiError(503, 'ServiceUnavailable');
    await expect(ask(error)).rejects.toBe(error);
  });
});
