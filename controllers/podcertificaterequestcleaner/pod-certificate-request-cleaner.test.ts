import { describe, expect, test } from 'vitest';

import { PodCertificateRequests, type Kind, type PodCertificateRequest, type Unsaved } from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createPodCertificateRequestCleaner } from './pod-certificate-request-cleaner.ts';

const minuteMs = 60_000;
const request = (name: string): Unsaved<PodCertificateRequest> => ({
  metadata: { namespace: 'team', name },
  spec: {
    signerName: 'example.com/x',
    podName: 'p',
    podUID: 'p',
    serviceAccountName: 's',
    serviceAccountUID: 's',
    nodeName: 'n',
    nodeUID: 'n',
    stubPKCS10Request: '',
  },
});
const names = ({ server }: TestContext): string[] =>
  server.stored(PodCertificateRequests).map(({ metadata }) => metadata.name);

async function run(test: TestContext, use: () => Promise<void>, served: Kind[] = [PodCertificateRequests]) {
  const discovery = {
    ...test.context.discovery,
    refresh: async () => undefined,
    all: async () => ({
      resources: served.map((kind) => ({ kind, verbs: new Set<string>() })),
      failures: new Map<string, string>(),
    }),
  };
  await whileRunning(test, createPodCertificateRequestCleaner({ ...test.context, discovery }), use);
}

describe('the cleaner', () => {
  test('deletes each request once it is 15 minutes old, every 5 minutes', async () => {
    const context = createTestContext({ freeze: true });
    context.server.seed(PodCertificateRequests, request('old'));
    await context.clock.advance(15 * minuteMs);
    context.server.seed(PodCertificateRequests, request('new'));
    await run(context, async () => {
      expect(context.client.writes).toMatchObject([
        { verb: 'delete', key: 'team/old', body: { preconditions: { uid: expect.any(String) } } },
      ]);
      for (const expected of [['new'], ['new'], []]) {
        await context.clock.advance(5 * minuteMs);
        await settle();
        expect(names(context)).toEqual(expected);
      }
    });
  });

  test('deletes the others when one cannot be deleted', async () => {
    const context = createTestContext();
    for (const name of ['first', 'gone', 'last']) context.server.seed(PodCertificateRequests, request(name));
    await context.clock.advance(15 * minuteMs);
    context.client.before('delete', ({ key }) => {
      if (key === 'team/first') throw apiError(503, 'ServiceUnavailable');
      if (key === 'team/gone') throw apiError(404, 'NotFound');
    });
    await run(context, async () => expect(names(context)).toEqual(['first', 'gone']));
  });

  test('lists nothing until requests are served', async () => {
    const context = createTestContext();
    const served: Kind[] = [];
    context.server.seed(PodCertificateRequests, request('old'));
    await context.clock.advance(15 * minuteMs);
    await run(
      context,
      async () => {
        expect(context.server.actions).toEqual([]);
        served.push(PodCertificateRequests);
        await context.clock.advance(5 * minuteMs);
        await settle();
        expect(names(context)).toEqual([]);
      },
      served,
    );
  });
});
