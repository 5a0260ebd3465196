import { configDefaults, defineConfig } from 'vitest/config';

/** About the servers themselves, or about what roles allow: the sandbox has no etcd, and allows everything. */
const notForSandbox = ['ground', 'process-deploy', 'serving'].map((name) => `test/suites/${name}.test.ts`);
const isSandbox = process.env['CLUSTER_SERVER'] === 'sandbox';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          // Only to end a run that hangs: one of them compiles the library, which a busy machine takes its time for.
          testTimeout: 120_000,
          hookTimeout: 120_000,
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
          exclude: [...configDefaults.exclude, ...(isSandbox ? notForSandbox : [])],
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
