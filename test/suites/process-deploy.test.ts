import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';
import { load } from 'js-yaml';
import * as z from 'zod';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { kubectl } from '../cluster/index.ts';
import { deployFile } from '../support/deployment-account.ts';
import { managerIdentity, startManager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();

const staticPod = z.object({
  spec: z.object({ containers: z.tuple([z.object({ command: z.array(z.string()) })]) }),
});

describe('the manifests', () => {
  test('are what the API server takes', async () => {
    await kubectl(cluster(), ['create', 'serviceaccount', 'default', '-n', 'kube-system']); // no controller makes it
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
    const { spec } = staticPod.parse(load(readFileSync(deployFile('static-pod.yaml'), 'utf8')));
    const [program, ...flags] = spec.containers[0].command;
    expect(program).toBe('kube-controller-manager');
    expect(flags.toSorted()).toEqual(flags); // as kubeadm writes them
    const { files } = cluster();
    const places = new Map([
      ['/etc/kubernetes/controller-manager.conf', cluster().kubeconfig(managerIdentity)],
      ['/etc/kubernetes/pki/ca.crt', files.ca],
      ['/etc/kubernetes/pki/ca.key', files.caKey],
      ['/etc/kubernetes/pki/front-proxy-ca.crt', files.frontProxyCa],
      ['/etc/kubernetes/pki/sa.key', files.serviceAccountKey],
    ]);
    const here = flags.map((flag) => flag.replace(/\/etc\/.*/, (path) => places.get(path) ?? path));
    await using manager = await startManager(cluster(), here);
    expect((await manager.get('/healthz', { user: 'kubelet' })).status).toBe(200);
    expect(await manager.stop()).toBe(exitCodes.ok);
  });
});
