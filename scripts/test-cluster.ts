/**
 * Runs the suites of `test/suites/`. `--server=sandbox` has the sandbox stand in for etcd and kube-apiserver; `--short`
 * leaves out what only waits a second time; everything else is for vitest.
 *
 *     npm run test:cluster -- --server=sandbox test/suites/deployment.test.ts
 */
import { spawn } from 'node:child_process';

/**
 * Whose subject is the manager's own process, which is started and killed over and over: its flags and files, its
 * endpoints, its lease. They run on a real server in any case, and hardly touch what a second server could do otherwise.
 */
const aboutProcesses = [
  'churn',
  'crash-at-every-write',
  'job-crash',
  'leader-election-go',
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
