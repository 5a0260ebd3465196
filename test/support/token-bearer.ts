import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

import { ClientBuilder, isUnauthorized, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import type { ClusterAccess } from '../cluster/index.ts';

const review = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });
const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** The user of a token, as the API server authenticates it; undefined if it does not accept the token. */
export async function usernameOf(
  cluster: ClusterAccess,
  token: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const kubeconfig = join(cluster.directory, 'token-bearer.conf');
  const config = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: cluster.url, 'certificate-authority': cluster.files.ca } }],
    users: [{ name: 'x', user: { token } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  const connection = await loadKubeconfig({ path: kubeconfig }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'token-bearer' });
  try {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const answer = await clients.clientFor('bearer').request({ method: 'POST', path, body }, signal);
    return review.parse(answer).status.userInfo.username;
  } catch (error) {
    if (isUnauthorized(error)) return undefined;
    throw error;
  } finally {
    clients.close();
  }
}
