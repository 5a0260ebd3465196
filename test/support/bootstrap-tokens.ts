import { ConfigMaps, objectKey, Secrets, type ObjectKey } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';

export const clusterInfo: ObjectKey = objectKey('kube-public', 'cluster-info');
export const tokenKey = (id: string): ObjectKey => objectKey('kube-system', `bootstrap-token-${id}`);

/** A bootstrap token that may sign, as kubeadm makes them. */
export async function createToken(
  client: Client,
  id: string,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const all = {
    'token-id': id,
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
    ...fields,
  };
  const data = Object.entries(all).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  const metadata = { namespace: 'kube-system', name: `bootstrap-token-${id}` };
  const type = 'bootstrap.kubernetes.io/token';
  await client.create(Secrets, { metadata, type, data: Object.fromEntries(data) as Record<string, string> }, signal);
}

/** Replaces cluster-info with this one. */
export async function createClusterInfo(client: Client, kubeconfig: string, signal: AbortSignal): Promise<void> {
  await removeIfThere(() => client.delete(ConfigMaps, clusterInfo, {}, signal));
  const metadata = { namespace: 'kube-public', name: 'cluster-info' };
  await client.create(ConfigMaps, { metadata, data: { kubeconfig, other: 'kept' } }, signal);
}

export async function deleteToken(client: Client, id: string, signal: AbortSignal): Promise<void> {
  await removeIfThere(() => client.delete(Secrets, tokenKey(id), {}, signal));
}

async function removeIfThere(remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The data of cluster-info, once exactly these tokens have signed it. */
export function untilSigned(
  client: Client,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const wanted = ids.map((id) => `jws-kubeconfig-${id}`).toSorted();
  return eventually(async () => {
    const { data = {} } = await client.get(ConfigMaps, clusterInfo, signal);
    const found = Object.keys(data).filter((name) => name.startsWith('jws-'));
    return JSON.stringify(found.toSorted()) === JSON.stringify(wanted) && data;
  }, signal);
}
