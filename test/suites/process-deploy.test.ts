import { describe, expect, test } from 'vitest';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { kubectl } from '../cluster/index.ts';
import { deployFile } from '../support/deployment-account.ts';
import { startManager } from '../support/manager.ts';
import { staticPodCommand, staticPodFlags } from '../support/static-pod.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();

describe('the manifests', () => {
  test('are accepted by the API server', async () => {
    await kubectl(cluster(), ['create', 'serviceaccount', 'default', '-n', 'kube-system']); // no controller creates it
    for (const file of ['rbac.yaml', 'deployment.yaml', 'static-pod.yaml']) {
      const answer = await kubectl(cluster(), [
        'apply',
        '--dry-run=server',
        '--validate=strict',
        '-f',
        deployFile(file),
      ]);
      expect(answer).toContain('created (server dry run)');
    }
  });

  test('start the manager by the command of the static pod', async () => {
    const [program, ...flags] = staticPodCommand();
    expect(program).toBe('kube-controller-manager');
    expect(flags.toSorted()).toEqual(flags); // as kubeadm writes them
    await using manager = await startManager(cluster(), staticPodFlags(cluster()));
    expect((await manager.get('/healthz', { user: 'kubelet' })).status).toBe(200);
    expect(await manager.stop()).toBe(exitCodes.ok);
  });
});
