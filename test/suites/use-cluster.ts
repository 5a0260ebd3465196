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
 * The one cluster of the whole run, for suites that do nothing to the servers: it saves each of them the start. Others
 * have left their objects in it, so work in a namespace of your own (`createNamespace`) and run no controller that
 * would touch what is outside it.
 */
export function useSharedCluster(): ClusterAccess {
  return openCluster(inject('sharedClusterDirectory'));
}

/**
 * A cluster for one suite file, from before its first test to after its last: for suites that stop, pause or compact,
 * need flags of their own, or run controllers over everything. To be called at the top of the file or of a `describe`;
 * the result is a function, as the cluster exists only once tests run.
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
 * A new namespace with a `default` ServiceAccount, so that pods are admitted although no controller is there to make
 * one. Returns its name.
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
