import { createHmac, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import {
  ClusterRoleBindings,
  ConfigMaps,
  DaemonSets,
  Nodes,
  objectKey,
  Pods,
  RoleBindings,
  Roles,
  ServiceAccounts,
  type Pod,
} from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { clusterInfo, createClusterInfo, createToken } from '../support/bootstrap-tokens.ts';
import {
  certificateOf,
  createRequest,
  createSigningRequest,
  kubeletClient,
  nodeSubject,
  untilFinished,
} from '../support/certificate-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { staticPodFlags } from '../support/static-pod.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const opened: ClientBuilder[] = [];
afterAll(() => opened.forEach((clients) => clients.close()));

async function clientOf(kubeconfig: string): Promise<Client> {
  const connection = await loadKubeconfig({ path: kubeconfig }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'kubeadm-join' });
  opened.push(clients);
  return clients.clientFor('kubeadm-join');
}

/** A client with these credentials only: a token, a certificate, or none. */
async function clientWith(name: string, user: Readonly<Record<string, string>>): Promise<Client> {
  const path = join(cluster().directory, `${name}.kubeconfig`);
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    clusters: [{ name: 'it', cluster: { server: cluster().url, 'certificate-authority': cluster().files.ca } }],
    users: [{ name: 'it', user }],
  };
  writeFileSync(path, JSON.stringify(kubeconfig), { mode: 0o600 });
  return clientOf(path);
}

const [tokenId, tokenSecret] = ['abcdef', '0123456789abcdef'];
const joiners = 'system:bootstrappers:kubeadm:default-node-token';
const rbac = 'rbac.authorization.k8s.io';
const group = (name: string) => ({ kind: 'Group', apiGroup: rbac, name });

/** The results of `kubeadm init` for joining nodes: a token, the public cluster-info, and the roles of both. */
async function prepareCluster(admin: Client, signal: AbortSignal): Promise<void> {
  const bind = (name: string, role: string, subject: string): Promise<unknown> =>
    admin.create(
      ClusterRoleBindings,
      {
        metadata: { name },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
        subjects: [group(subject)],
      },
      signal,
    );
  const requests = 'system:certificates.k8s.io:certificatesigningrequests';
  await bind('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', joiners);
  await bind('kubeadm:node-autoapprove-bootstrap', `${requests}:nodeclient`, joiners);
  await bind('kubeadm:node-autoapprove-certificate-rotation', `${requests}:selfnodeclient`, 'system:nodes');
  const metadata = { namespace: 'kube-public', name: 'kubeadm:bootstrap-signer-clusterinfo' };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }];
  await admin.create(Roles, { metadata, rules }, signal);
  const subjects = [{ kind: 'User', apiGroup: rbac, name: 'system:anonymous' }];
  const roleRef = { apiGroup: rbac, kind: 'Role', name: metadata.name };
  await admin.create(RoleBindings, { metadata, roleRef, subjects }, signal);
  await createClusterInfo(admin, readFileSync(cluster().files.ca, 'utf8'), signal);
  const uses = { 'usage-bootstrap-authentication': 'true', 'auth-extra-groups': joiners };
  await createToken(admin, tokenId, { 'token-secret': tokenSecret, ...uses }, signal);
}

/** Verifies the unauthenticated cluster-info by the token of the joining node. */
function isSignedByToken(signature: string, content: string): boolean {
  const [header = '', , mac = ''] = signature.split('.');
  const payload = Buffer.from(content).toString('base64url');
  return createHmac('sha256', tokenSecret).update(`${header}.${payload}`).digest('base64url') === mac;
}

/** The node that a daemon pod is for. The scheduler, which would bind it, does not run here. */
const nodeOf = ({ spec }: Pod): string | undefined =>
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchFields?.[0]
    ?.values?.[0];

test("a node joins a cluster that runs by kubeadm's command line", async ({ signal }) => {
  const admin = await clientOf(cluster().kubeconfig());
  await prepareCluster(admin, signal);
  await using manager = await startManager(cluster(), staticPodFlags(cluster()));

  // Discovery: anonymous users may read cluster-info, and the token proves that it is genuine.
  const anonymous = await clientWith('anonymous', {});
  const info = await eventually(async () => {
    const { data = {} } = await anonymous.get(ConfigMaps, clusterInfo, signal);
    const signature = data[`jws-kubeconfig-${tokenId}`];
    return signature !== undefined && { signature, kubeconfig: data['kubeconfig'] ?? '' };
  }, signal);
  expect(isSignedByToken(info.signature, info.kubeconfig)).toBe(true);

  // TLS bootstrap: the token requests a client certificate, which is approved and signed.
  const bootstrap = await clientWith('bootstrap', { token: `${tokenId}.${tokenSecret}` });
  const keyed = await createRequest(nodeSubject('joined'));
  await createSigningRequest(bootstrap, 'csr-joined', keyed, { ...kubeletClient, signal });
  const certificate = certificateOf(await untilFinished(bootstrap, 'csr-joined', signal));
  expect(new X509Certificate(certificate).subject).toContain('CN=system:node:joined');

  // The kubelet registers its node with that certificate, and reports that it is ready.
  const kubelet = await clientWith('kubelet', {
    'client-certificate-data': Buffer.from(certificate).toString('base64'),
    'client-key-data': Buffer.from(keyed.privateKey).toString('base64'),
  });
  await kubelet.create(Nodes, { metadata: { name: 'joined' }, spec: {} }, signal);
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now }];
  const status = { type: 'strategic', subresource: 'status', body: { status: { conditions } } } as const;
  await kubelet.patch(Nodes, objectKey(undefined, 'joined'), status, signal);

  // The node gets a pod CIDR, its namespace an account, and every DaemonSet a pod on it.
  await eventually(
    async () =>
      (await admin.get(Nodes, objectKey(undefined, 'joined'), signal)).spec.podCIDRs?.join() === '10.244.0.0/24',
    signal,
  );
  await eventually(() => admin.get(ServiceAccounts, objectKey('kube-system', 'default'), signal), signal);
  const labels = { app: 'proxy' };
  await admin.create(
    DaemonSets,
    {
      metadata: { namespace: 'kube-system', name: 'proxy' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'proxy', image: 'example' }] } },
      },
    },
    signal,
  );
  const pod = await eventually(async () => {
    const { items } = await admin.listAll(Pods, { namespace: 'kube-system' }, signal);
    return items.find((candidate) => nodeOf(candidate) === 'joined') ?? false;
  }, signal);
  expect(pod.metadata.ownerReferences?.[0]?.name).toBe('proxy');
  expect(await manager.stop()).toBe(0);
});
