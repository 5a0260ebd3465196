/**
 * Runs the suites of `test/suites/`. `--server=sandbox` has the sandbox stand in for etcd and kube-apiserver;
 * everything else is for vitest.
 *
 *     npm run test:cluster -- --server=sandbox test/suites/deployment.test.ts
 */
import { spawn } from 'node:child_process';

const argv = process.argv.slice(2);
const server = argv.find((argument) => argument.startsWith('--server='))?.slice('--server='.length) ?? 'kube-apiserver';
if (server !== 'kube-apiserver' && server !== 'sandbox') {
  console.error(`--server: ${JSON.stringify(server)} is neither kube-apiserver nor sandbox`);
  process.exit(2);
}
const rest = argv.filter((argument) => !argument.startsWith('--server='));
const atOnce = server === 'sandbox' ? ['--maxWorkers=2'] : [];
const child = spawn('vitest', ['run', '--project', 'cluster', ...atOnce, ...rest], {
  stdio: 'inherit',
  env: { ...process.env, CLUSTER_SERVER: server },
});
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
