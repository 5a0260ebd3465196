import { apiVersionOf, formatTime, keyOf, PodCertificateRequests } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { ClusterAccess } from '../cluster/index.ts';
import { createRequest } from './certificate-requests.ts';
import { eventually } from './eventually.ts';

export interface RequestUser {
  readonly client: Client;
  readonly cluster: Pick<ClusterAccess, 'etcdUrl'>;
  readonly namespace: string;
}

/** A request as a kubelet makes it, so many minutes ago. */
export async function createPodRequest(
  { client, cluster, namespace }: RequestUser,
  { name, minutes }: { readonly name: string; readonly minutes: number },
  signal: AbortSignal,
): Promise<void> {
  const { request } = await createRequest([]);
  const spec = {
    signerName: 'example.com/test',
    podName: 'pod',
    podUID: 'pod-uid',
    serviceAccountName: 'default',
    serviceAccountUID: 'account-uid',
    nodeName: 'node',
    nodeUID: 'node-uid',
    stubPKCS10Request: request.replaceAll(/-----[^-]+-----|\s/g, ''), // DER
  };
  const made = await client.create(PodCertificateRequests, { metadata: { namespace, name }, spec }, signal);
  const creationTimestamp = formatTime(Date.now() - minutes * 60_000);
  const { resourceVersion: _resourceVersion, ...metadata } = { ...made.metadata, creationTimestamp };
  const { kind } = PodCertificateRequests;
  await putIntoEtcd(cluster.etcdUrl, `/registry/podcertificaterequests/${keyOf(made)}`, {
    ...made,
    apiVersion: apiVersionOf(PodCertificateRequests),
    kind,
    metadata,
  });
  await eventually(async () => {
    const { metadata: stored } = await client.get(PodCertificateRequests, keyOf(made), signal);
    return stored.creationTimestamp === creationTimestamp;
  }, signal);
}

/** The API server lets nobody set the time of creation. It reads JSON from etcd, although it writes another format. */
async function putIntoEtcd(etcdUrl: string, key: string, value: unknown): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const body = JSON.stringify({ key: base64(key), value: base64(JSON.stringify(value)) });
  const response = await fetch(`${etcdUrl}/v3/kv/put`, { method: 'POST', body });
  if (!response.ok) throw new Error(`put ${key} into etcd: status ${response.status}, ${await response.text()}`);
}
