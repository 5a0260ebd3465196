import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{cmd,pkg,controllers,informers,workqueue,scripts}/**/*.test.ts',
            'test/*.test.ts',
            'test/{support,cluster}/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          name: 'cluster',
          include: ['test/suites/**/*.test.ts'],
          globalSetup: ['test/suites/global-setup.ts'],
          // A cluster is two busy servers: on a small machine a second one beside it only makes both slow.
          fileParallelism: false,
          // Suites wait for conditions, however long the machine needs; these only end a run that hangs.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 590_000, interval: 50 } },
        },
      },
    ],
  },
});
