import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { kubectl } from '../cluster/index.ts';
import { startManager } from '../support/manager.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const deployFile = (name: string): string => new URL(`../../deploy/${name}`, import.meta.url).pathname;

const tokenRequest = z.object({ status: z.object({ token: z.string() }) });

/** A kubeconfig for the service account of the Deployment, as a pod of it would have by its mounted token. */
async function deploymentKubeconfig(): Promise<string> {
  const { body } = await cluster().request({
    method: 'POST',
    path: '/api/v1/namespaces/kube-system/serviceaccounts/kube-controller-manager/token',
    body: { spec: { expirationSeconds: 3600 } },
  });
  const { token } = tokenRequest.parse(body).status;
  const path = join(cluster().directory, 'deployment.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: cluster().url, 'certificate-authority': cluster().files.ca } }],
    users: [{ name: 'x', user: { token } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const names = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

async function listNames(path: string): Promise<readonly string[]> {
  const { body } = await cluster().request({ path });
  return names.parse(body).items.map(({ metadata }) => metadata.name);
}

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

  test('hold the flags of the static pod in the order of kubeadm', () => {
    const staticPod = z
      .object({ spec: z.object({ containers: z.tuple([z.object({ command: z.array(z.string()) })]) }) })
      .parse(parse(readFileSync(deployFile('static-pod.yaml'), 'utf8')));
    const [program, ...flags] = staticPod.spec.containers[0].command;
    expect(program).toBe('kube-controller-manager');
    expect(flags.toSorted()).toEqual(flags);
  });

  test('grant the Deployment and each of its controllers enough, and no controller a role of our own', async () => {
    await kubectl(cluster(), ['apply', '-f', deployFile('rbac.yaml')]);
    const kubeconfig = await deploymentKubeconfig();
    const { files } = cluster();
    await using manager = await startManager(cluster(), [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--client-ca-file=',
      '--requestheader-client-ca-file=',
      `--root-ca-file=${files.ca}`,
      `--service-account-private-key-file=${files.serviceAccountKey}`,
      '--use-service-account-credentials=true',
    ]);
    const namespace = await createNamespace(cluster());
    await kubectl(cluster(), ['create', 'deployment', 'web', '--image=example', '--replicas=2', '-n', namespace]);
    await expect.poll(() => listNames(`/api/v1/namespaces/${namespace}/pods`)).toHaveLength(2);
    await kubectl(cluster(), ['scale', 'deployment', 'web', '--replicas=1', '-n', namespace]);
    await expect.poll(() => listNames(`/api/v1/namespaces/${namespace}/pods`)).toHaveLength(1);

    const metrics = parsePrometheusText(String((await manager.get('/metrics')).body));
    const requests = metrics.get('rest_client_requests_total')?.samples ?? [];
    expect(requests.filter(({ labels }) => labels['code'] === '403')).toEqual([]);
    expect(await manager.stop()).toBe(exitCodes.ok);

    const roles = new Set(await listNames('/apis/rbac.authorization.k8s.io/v1/clusterroles'));
    const accounts = await listNames('/api/v1/namespaces/kube-system/serviceaccounts');
    const controllers = accounts.filter((name) => name !== 'kube-controller-manager' && name !== 'default');
    expect(controllers).toContain('deployment-controller');
    expect(controllers.filter((name) => !roles.has(`system:controller:${name}`))).toEqual([]);
  });
});
