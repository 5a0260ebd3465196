import { describe, expect, test } from 'vitest';

import { Jobs, keyOf, type Job } from '../../pkg/api/index.ts';
import { creationTime, job } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { createTtlAfterFinishedController } from './ttl-after-finished.ts';

const signal = new AbortController().signal;
const finished = (ttlSecondsAfterFinished: number): Job =>
  job({
    spec: { ttlSecondsAfterFinished },
    status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: creationTime }] },
  });

async function whileCleaning(use: (stage: TestContext) => Promise<void>): Promise<void> {
  const stage = createTestContext();
  await whileRunning(stage, createTtlAfterFinishedController(stage.context, 1), () => use(stage));
}

async function setTtl({ server }: TestContext, ttlSecondsAfterFinished: number): Promise<void> {
  const body = { spec: { ttlSecondsAfterFinished } };
  await server.patch(Jobs, keyOf(finished(0)), { type: 'merge', body }, signal);
}

describe('a Job that has finished', () => {
  test('is deleted after its TTL, with the checked resource version', async () => {
    await whileCleaning(async (stage) => {
      const { uid, resourceVersion } = stage.server.seed(Jobs, finished(30)).metadata;
      await settle();
      await stage.clock.advance(29_999);
      expect(stage.client.actions).toEqual([]);
      await stage.clock.advance(1);
      await settle();
      expect(stage.client.actions).toEqual([
        {
          verb: 'delete',
          resource: 'jobs.batch',
          key: 'default/job',
          body: { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } },
        },
      ]);
    });
  });

  test('stays if its TTL is raised, even at the last moment', async () => {
    await whileCleaning(async (stage) => {
      stage.server.seed(Jobs, finished(30));
      await settle();
      stage.client.before('delete', () => setTtl(stage, 60)); // too late for the cache to know
      await stage.clock.advance(30_000);
      await settle();
      await stage.clock.advance(29_000);
      await settle();
      expect(stage.client.actions).toHaveLength(1);
      expect(stage.server.stored(Jobs)).toHaveLength(1);
    });
  });

  test('is deleted at once if its TTL is lowered to the past', async () => {
    await whileCleaning(async (stage) => {
      stage.server.seed(Jobs, finished(3600));
      await settle();
      await stage.clock.advance(10_000);
      await setTtl(stage, 10);
      await settle();
      expect(stage.server.stored(Jobs)).toMatchObject([
        { metadata: { deletionTimestamp: expect.any(String) as string } },
      ]);
    });
  });
});
