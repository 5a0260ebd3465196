import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type ClusterAccess, kubectl } from '../cluster/index.ts';

/** A file of `deploy/`. */
export const deployFile = (name: string): string => new URL(`../../deploy/${name}`, import.meta.url).pathname;

/** A kubeconfig for a service account in kube-system, with a token like the one mounted into its pods. */
export async function accountKubeconfig(cluster: ClusterAccess, account: string): Promise<string> {
  const token = (await kubectl(cluster, ['create', 'token', '-n', 'kube-system', account])).trim();
  const path = join(cluster.directory, `${account}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: cluster.url, 'certificate-authority': cluster.files.ca } }],
    users: [{ name: 'x', user: { token } }],
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
