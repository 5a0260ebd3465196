import { expect, test } from 'vitest';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { runProgram } from '../../cmd/kube-controller-manager/program.ts';
import { controllers } from '../../controllers/registry.ts';
import { findFreePort } from '../cluster/index.ts';
import { greeting } from '../support/third-party-controller.ts';
import { createNamespace, useSharedCluster } from './use-cluster.ts';

const cluster = useSharedCluster();

test('a controller that Kubernetes does not have runs by --controllers, with its own flags', async () => {
  const namespace = await createNamespace(cluster);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const body = { metadata: { name: 'a', labels: { greet: '' } } };
  expect((await cluster.request({ method: 'POST', path, body })).status).toBe(201);

  const port = await findFreePort();
  const kubeconfig = cluster.kubeconfig();
  const argv = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--client-ca-file=${cluster.files.ca}`,
    `--requestheader-client-ca-file=${cluster.files.frontProxyCa}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${cluster.files.apiServer}`,
    `--tls-private-key-file=${cluster.files.apiServerKey}`,
    '--leader-elect=false',
    '--feature-gates=ComponentFlagz=true',
    '--controllers=greeting,-serviceaccount-token-controller',
    '--greeting-text=welcome',
  ];
  const stop = new AbortController();
  let stderr = '';
  const deps = {
    controllers: [...controllers, greeting],
    environment: {},
    stdout: () => {},
    stderr: (text: string) => void (stderr += text),
  };
  const ended = runProgram(argv, deps, stop.signal);
  try {
    const read = async (): Promise<unknown> => (await cluster.request({ path: `${path}/a` })).body;
    await expect.poll(read).toMatchObject({ data: { greeting: 'welcome' } });
    const flagz = await cluster.request({ path: `https://127.0.0.1:${port}/flagz` });
    expect(flagz.body).toMatch(/greeting-text[=: ]+welcome/);
    const health = await cluster.request({ path: `https://127.0.0.1:${port}/healthz?verbose` });
    expect(health.body).toContain('[+]greeting-controller ok');
  } finally {
    stop.abort(new Error('the test is over'));
  }
  expect({ exitCode: await ended, stderr }).toEqual({ exitCode: exitCodes.ok, stderr: '' });
});
