import { afterAll, beforeAll } from 'vitest';

import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import type { Cluster } from '../cluster/index.ts';
import { createSender, type Sender } from '../support/hostile/sender.ts';
import { useCluster } from './use-cluster.ts';

/** A cluster for hostile objects: they are sent as they are, and a client looks at them. */
export interface StrangersCluster {
  readonly cluster: () => Cluster;
  readonly sender: () => Sender;
  readonly client: () => Client;
}

/** Use the functions in tests and hooks only: the cluster starts with the first hook. */
export function useStrangers(): StrangersCluster {
  const cluster = useCluster();
  let sender: Sender | undefined;
  let clients: ClientBuilder | undefined;

  beforeAll(async () => {
    sender = createSender(cluster());
    const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
    clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'innocent' });
  });

  afterAll(() => {
    clients?.close();
    sender?.[Symbol.dispose]();
  });

  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the cluster has not started');
    return value;
  };
  return { cluster, sender: () => started(sender), client: () => started(clients).clientFor('innocent') };
}
