import type { TestProject } from 'vitest/node';
import { buildPage } from '../../scripts/build-page.ts';
import { binaryPath, isSandbox, startCluster } from '../cluster/index.ts';

/**
 * Finds or builds the servers before any suite runs, and starts the shared cluster. A missing server fails the run
 * here: a run without a real API server must not look like a success. Builds the page that managers serve.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  await buildPage();
  const names = isSandbox ? (['kubectl'] as const) : (['etcd', 'kube-apiserver', 'kubectl'] as const);
  for (const name of names) await binaryPath(name);
  const cluster = await startCluster();
  project.provide('sharedClusterDirectory', cluster.directory);
  return () => cluster.stop();
}
