import { cloudControllers } from '../../controllers/cloud.ts';
import { createHollowCloud } from '../../pkg/hollow/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { runManager } from '../../pkg/manager/index.ts';

/** The range that the addresses of simulated pods are in. */
const clusterCidr = '10.128.0.0/9';

/** Flags of the kube-controller-manager: nodes get the pod CIDRs that the cloud has routes for. */
export const cloudFlags = ['--allocate-node-cidrs=true', `--cluster-cidr=${clusterCidr}`];

/** Runs a cloud controller manager on a simulated cloud, until the abort. */
export async function runCloud(kubeconfig: string, logger: Logger, signal: AbortSignal): Promise<void> {
  await runManager({
    name: 'cloud-controller-manager',
    kubeconfig,
    controllers: cloudControllers(createHollowCloud(), { clusterCidrs: [clusterCidr] }),
    leaderElection: false, // there is no other process
    server: false,
    freezeCaches: false,
    logger,
    signal,
  });
}
