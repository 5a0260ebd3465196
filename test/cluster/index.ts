/**
 * A real Kubernetes API for tests: etcd and kube-apiserver on loopback, one directory and one set of keys each.
 *
 *     const cluster = await startCluster();                    // or { featureGates: { X: true }, runtimeConfig, … }
 *     cluster.kubeconfig();                                    // path of an admin's kubeconfig
 *     cluster.kubeconfig({ user: 'jane', groups: ['dev'] });   // … of anyone's: RBAC is on
 *     await cluster.request({ path: '/api/v1/nodes' });        // one plain call as the admin: { status, body }
 *     cluster.apiServer.pause(); cluster.apiServer.resume();   // likewise stop(), kill(), start(), restart(); and etcd
 *     await cluster.compact();                                 // after apiServer.restart(), old revisions get 410
 *     await kubectl(cluster, ['get', 'pods', '-A']);
 *     await startGoControllerManager(cluster, ['--controllers=deployment']);
 *     await cluster.startProcess({ name, program, args });     // anything else that must end with the cluster
 *     await cluster.stop();                                    // `await using` does it too
 *
 * Suites get a cluster from `test/suites/use-cluster.ts`, which starts and stops it. No controllers run in the cluster:
 * a new namespace has no `default` ServiceAccount, without which the API server refuses pods. If the test run crashes
 * or is killed, a watchdog stops the servers and removes the directory.
 */
export { admin, findFreePort, openCluster } from '../../pkg/servers/index.ts';
export type {
  Cluster,
  ClusterAccess,
  ClusterOptions,
  Identity,
  PlainResponse,
  ServerProcess,
} from '../../pkg/servers/index.ts';
export { binaryPath } from './binaries.ts';
export { isSandbox, startCluster } from './cluster.ts';
export { kubectl, startGoCloudControllers, startGoControllerManager } from './peer.ts';
