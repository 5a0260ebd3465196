import { describe, expect, test } from 'vitest';

import type { RawRequest } from '../../pkg/client/index.ts';
import { abortReason } from '../../pkg/time/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { CustomMetricsVersion } from './metrics-version.ts';

const periodMs = 15_000;
const version = 'custom.metrics.k8s.io/v1beta2';
const groupList = { groups: [{ name: 'custom.metrics.k8s.io', versions: [{ groupVersion: version }] }] };

interface Request extends PromiseWithResolvers<unknown> {
  readonly signal: AbortSignal;
}

/** A server that answers when the test says so. */
function versionOnStage() {
  const requests: Request[] = [];
  const client = {
    request(_request: RawRequest, signal: AbortSignal): Promise<unknown> {
      const request = { ...Promise.withResolvers<unknown>(), signal };
      signal.addEventListener('abort', () => request.reject(abortReason(signal)));
      requests.push(request);
      return request.promise;
    },
  };
  const clock = new FakeClock();
  return { clock, requests, known: new CustomMetricsVersion(client, { clock, periodMs }) };
}

const { signal } = new AbortController();
const outcomeOf = (asked: Promise<string>): Promise<string> =>
  asked.catch((error: unknown) => (error instanceof Error ? error.message : String(error)));

describe('the version of the custom metrics API', () => {
  test('is asked once in a period, for all autoscalers', async () => {
    const { clock, requests, known } = versionOnStage();
    const both = [known.get(signal), known.get(signal)];
    requests[0]?.resolve(groupList);
    expect(await Promise.all(both)).toEqual([version, version]);
    await clock.advance(periodMs - 1);
    expect(await known.get(signal)).toBe(version);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    const later = known.get(signal);
    requests[1]?.resolve(groupList);
    expect(await later).toBe(version);
  });

  test('reaches the others when the autoscaler that asked first is deleted', async () => {
    const { requests, known } = versionOnStage();
    const deletion = new AbortController();
    const [first, second] = [outcomeOf(known.get(deletion.signal)), outcomeOf(known.get(signal))];
    deletion.abort(new Error('deleted'));
    expect(await first).toBe('deleted');
    requests[0]?.resolve(groupList);
    expect(await second).toBe(version);
    expect(requests).toHaveLength(1);
  });

  test('is asked again by the next autoscaler after a failure', async () => {
    const { requests, known } = versionOnStage();
    const both = [outcomeOf(known.get(signal)), outcomeOf(known.get(signal))];
    requests[0]?.reject(new Error('no answer'));
    expect(await Promise.all(both)).toEqual(['no answer', 'no answer']);
    const next = outcomeOf(known.get(signal));
    requests[1]?.resolve(groupList);
    expect(await next).toBe(version);
  });

  test('is asked no longer when nobody waits for it, and anew by the next autoscaler', async () => {
    const { requests, known } = versionOnStage();
    const deletion = new AbortController();
    const only = outcomeOf(known.get(deletion.signal));
    deletion.abort(new Error('deleted'));
    expect(await only).toBe('deleted');
    expect(requests[0]?.signal.aborted).toBe(true);
    const next = outcomeOf(known.get(signal));
    requests[1]?.resolve(groupList);
    expect(await next).toBe(version);
  });

  test('is not asked for an autoscaler that is deleted already', async () => {
    const { requests, known } = versionOnStage();
    expect(await outcomeOf(known.get(AbortSignal.abort(new Error('deleted'))))).toBe('deleted');
    expect(requests).toEqual([]);
  });
});
