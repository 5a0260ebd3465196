import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import { openCluster, startCluster } from '../cluster/index.ts';
import type { Cluster, ClusterAccess, ClusterOptions } from '../cluster/index.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sharedClusterDirectory: string;
  }
}

/**
 * The shared cluster of the whole run, for suites that do not disturb the servers: it saves each of them the start.
 * Other suites have left objects in it, so use a separate namespace (`createNamespace`) and run no controller that
 * affects others.
 */
export function useSharedCluster(): ClusterAccess {
  return openCluster(inject('sharedClusterDirectory'));
}

/**
 * A cluster for one suite file, from before its first test to after its last: for suites that stop, pause or compact
 * servers, need their own flags, or run controllers for all namespaces. Call it at the top of the file or of a
 * `describe`. The result is a function, because the cluster exists only while tests run.
 */
export function useCluster(options: ClusterOptions = {}): () => Cluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster(options);
  });
  afterAll(async () => {
    await cluster?.stop();
  });
  return () => {
    if (cluster === undefined) throw new Error('use a cluster: it exists inside tests and hooks only');
    return cluster;
  };
}

/**
 * A new namespace with a `default` ServiceAccount, so that pods are admitted although no controller creates one.
 * Returns its name.
 */
export async function createNamespace(cluster: ClusterAccess, prefix = 'test'): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  const create = async (path: string, body: unknown): Promise<void> => {
    const { status, body: answer } = await cluster.request({ method: 'POST', path, body });
    // A service account controller, where one runs, may have been faster.
    if (status !== 201 && status !== 409)
      throw new Error(`create ${path}: ${String(status)} ${JSON.stringify(answer)}`);
  };
  await create('/api/v1/namespaces', { metadata: { name } });
  await create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  return name;
}
