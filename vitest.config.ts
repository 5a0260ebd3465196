import { configDefaults, defineConfig } from 'vitest/config';

/**
 * About etcd, beta and aggregated APIs, what takes long, what is legal or what roles forbid: the sandbox is its own storage, serves stable
 * APIs only, and is fast and lenient.
 */
const aboutServers = [
  'candidates-chaos',
  'coordinated-election',
  'device-apis',
  'ground',
  'hostile-objects',
  'kubeadm-join',
  'loop',
  'namespace-many-pods',
  'package',
  'policy-status',
  'pod-autoscaler',
  'pod-groups',
  'process-deploy',
  'process-rbac',
  'service-cidr',
  'serving',
  'slow-namespace',
  'storage-versions',
  'testing-guide',
  'trust-bundles',
  'watch-formats',
];
/** These bring a sandbox of their own, so that the run on a real server has them. */
const aboutSandbox = ['kubectl', 'loop-page', 'sandbox', 'sandbox-fuzz'];
const isSandbox = process.env['CLUSTER_SERVER'] === 'sandbox';
const leftOut = [
  ...(isSandbox ? [...aboutServers, ...aboutSandbox] : []),
  ...(process.env['SUITES_LEFT_OUT'] ?? '').split(','),
];

/** Test clusters wait however long the machine needs. */
const env = { TEST_CLUSTER_TIMEOUT_MS: 'Infinity' };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          env,
          // Importing does nothing in this project, so that test files can share their modules: 29 s of CPU instead of 87.
          isolate: false,
          setupFiles: ['test/support/no-leaks.ts'],
          // Only to end a run that hangs: one of them compiles the library, which a busy machine takes its time for.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          include: [
            '{cmd,pkg,controllers,examples,informers,workqueue,scripts}/**/*.test.ts',
            'test/*.test.ts',
            'test/{support,cluster}/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, '**/*.cluster.test.ts'],
        },
      },
      {
        test: {
          name: 'cluster',
          env,
          include: ['test/suites/**/*.test.ts', 'examples/**/*.cluster.test.ts'],
          exclude: [...configDefaults.exclude, ...leftOut.map((name) => `test/suites/${name}.test.ts`)],
          setupFiles: ['test/support/no-leaks.ts'],
          globalSetup: ['test/suites/global-setup.ts'],
          // A cluster is two busy servers: on a small machine a second one beside it only makes both slow. A sandbox
          // mostly waits for what runs on it.
          fileParallelism: isSandbox,
          // Suites wait for conditions, however long the machine needs; these only end a run that hangs.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 590_000, interval: 50 } },
        },
      },
    ],
  },
});
