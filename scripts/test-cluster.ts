/**
 * Runs the suites of `test/suites/`. `--server=sandbox` runs them on the sandbox instead of etcd and kube-apiserver.
 * `--short` leaves out tests that only wait a second time. All other arguments are passed to vitest.
 *
 *     npm run test:cluster -- --server=sandbox test/suites/deployment.test.ts
 */
import { spawn } from 'node:child_process';

/**
 * Suites about the manager's own process, which they start and kill many times: its flags and files, its endpoints, its
 * lease. They run on a real server in any case, and hardly depend on the server.
 */
const aboutProcesses = [
  'churn',
  'crash-at-every-write',
  'job-crash',
  'leader-election-go',
  'leader-migration',
  'process',
  'process-bad-input',
  'process-bundle',
  'process-image',
];

const argv = process.argv.slice(2);
const server = argv.find((argument) => argument.startsWith('--server='))?.slice('--server='.length) ?? 'kube-apiserver';
if (server !== 'kube-apiserver' && server !== 'sandbox') {
  console.error(`--server: ${JSON.stringify(server)} is neither kube-apiserver nor sandbox`);
  process.exit(2);
}
const isShort = argv.includes('--short');
const rest = argv.filter((argument) => !argument.startsWith('--server=') && argument !== '--short');
const atOnce = server === 'sandbox' ? ['--maxWorkers=2'] : [];
const child = spawn('vitest', ['run', '--project', 'cluster', ...atOnce, ...rest], {
  stdio: 'inherit',
  env: {
    ...(isShort && { INFORMER_CHANGES: '2000', SUITES_LEFT_OUT: aboutProcesses.join(',') }),
    ...process.env,
    CLUSTER_SERVER: server,
  },
});
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
