import { ClusterTrustBundles, keyOf, objectKey, type ClusterTrustBundle, type Kind } from '../../pkg/api/index.ts';
import { createAuthority } from '../../pkg/certificates/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';

const signerName = 'kubernetes.io/kube-apiserver-serving';

export interface BundleUser {
  readonly client: Client;
  /** In the version that the server has. */
  readonly kind?: Kind<ClusterTrustBundle>;
}

/** A new CA certificate in PEM. */
export function createCa(commonName: string): string {
  const hourMs = 3_600_000;
  const validity = { fromMs: Date.now() - hourMs, untilMs: Date.now() + hourMs };
  return createAuthority({ commonName, validity }).certificate;
}

/** The bundles of the signer. */
export async function listBundles(
  { client, kind = ClusterTrustBundles }: BundleUser,
  signal: AbortSignal,
): Promise<readonly ClusterTrustBundle[]> {
  const { items } = await client.listAll(kind, { fieldSelector: `spec.signerName=${signerName}` }, signal);
  return items;
}

/** A bundle that nobody but the publisher should make. */
export async function createStrayBundle(
  { client, kind = ClusterTrustBundles }: BundleUser,
  trustBundle: string,
  signal: AbortSignal,
): Promise<void> {
  const name = `${signerName.replace('/', ':')}:stray`;
  await client.create(kind, { metadata: { name }, spec: { signerName, trustBundle } }, signal);
}

/** The bundle, once it is the only one of the signer and has this content. `unlike`: once it was made anew. */
export function untilPublished(
  user: BundleUser,
  trustBundle: string,
  signal: AbortSignal,
  unlike?: ClusterTrustBundle,
): Promise<ClusterTrustBundle> {
  return eventually(async () => {
    const [bundle, ...others] = await listBundles(user, signal);
    if (bundle === undefined || others.length > 0) return false;
    return bundle.spec.trustBundle === trustBundle && bundle.metadata.uid !== unlike?.metadata.uid && bundle;
  }, signal);
}

/** Does to a published bundle what a publisher makes good again. Returns the bundle after each. */
export async function disturbBundle(
  user: BundleUser,
  trustBundle: string,
  signal: AbortSignal,
): Promise<readonly ClusterTrustBundle[]> {
  const { client, kind = ClusterTrustBundles } = user;
  const first = await untilPublished(user, trustBundle, signal);
  await client.delete(kind, keyOf(first), {}, signal);
  const second = await untilPublished(user, trustBundle, signal, first);
  const body = { metadata: { labels: { kept: 'yes' } }, spec: { trustBundle: createCa('intruder') } };
  const key = objectKey(undefined, second.metadata.name);
  const { metadata } = await client.patch(kind, key, { type: 'merge', body }, signal);
  const restored = await untilPublished(user, trustBundle, signal);
  if (restored.metadata.uid !== metadata.uid) throw new Error('the bundle was made anew, and not updated');
  await createStrayBundle(user, createCa('stray'), signal);
  return [first, second, restored, await untilPublished(user, trustBundle, signal)];
}
