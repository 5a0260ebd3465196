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
 * Suites take theirs from `test/suites/use-cluster.ts`, which starts and stops it for them. The cluster is a bare one:
 * with no controllers, a new namespace has no `default` ServiceAccount, without which the API server refuses pods.
 * Whoever dies, be it a crash or kill -9: a watchdog ends the servers and removes the directory.
 */
export { admin, openCluster } from './access.ts';
export type { ClusterAccess, PlainResponse } from './access.ts';
export { binaryPath } from './binaries.ts';
export { isSandbox, startCluster } from './cluster.ts';
export type { Cluster, ClusterOptions } from './cluster.ts';
export type { Identity } from './credentials.ts';
export { findFreePort } from './ports.ts';
export { kubectl, startGoControllerManager } from './peer.ts';
export type { ServerProcess } from './server-process.ts';
