import { afterAll, beforeAll } from 'vitest';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { startHollowNodes, type HollowNodes, type HollowNodesOptions } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import type { ClusterAccess } from '../cluster/index.ts';
import { silentLogger } from '../support/loggers.ts';

export interface SuiteNodes {
  readonly hollow: HollowNodes;
  /** The suite's own client: an administrator without a rate limit. */
  readonly client: Client;
  /** Aborts when the suite is over. */
  readonly signal: AbortSignal;
}

/**
 * Simulated nodes for one suite file, from before its first test to after its last. Call it right after `useCluster`;
 * as there, the result exists only while tests run.
 */
export function useNodes(
  cluster: () => ClusterAccess,
  options: Pick<HollowNodesOptions, 'nodes' | 'podStopDelayMs' | 'leaseRenewMs'>,
): () => SuiteNodes {
  const stop = new AbortController();
  let clients: ClientBuilder | undefined;
  let suite: SuiteNodes | undefined;
  beforeAll(async () => {
    const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
    clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'suite' });
    // Suites finish the pods of Jobs themselves.
    const nodes = {
      ...options,
      jobRunMs: Infinity,
      client: clients.clientFor('hollow-nodes'),
      clock: systemClock,
      logger: silentLogger,
    };
    const hollow = await startHollowNodes(nodes, stop.signal);
    suite = { hollow, client: clients.clientFor('user'), signal: stop.signal };
  });
  afterAll(async () => {
    stop.abort();
    await suite?.hollow.stopped;
    clients?.close();
  });
  return () => {
    if (suite === undefined) throw new Error('use nodes: they exist inside tests and hooks only');
    return suite;
  };
}
