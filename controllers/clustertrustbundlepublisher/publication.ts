import { createHash } from 'node:crypto';

import { isBeingDeleted, type Cached, type ClusterTrustBundle, type Unsaved } from '../../pkg/api/index.ts';

export const signerName = 'kubernetes.io/kube-apiserver-serving';

export interface Plan {
  /** Absent if the published bundle is up to date. */
  readonly write?: { readonly verb: 'create' | 'update'; readonly bundle: Unsaved<ClusterTrustBundle> };
  readonly deletions: readonly Cached<ClusterTrustBundle>[];
}

/** `bundles` are all those of the signer. One is published, named after its content, and all others are deleted. */
export function planPublication(bundles: readonly Cached<ClusterTrustBundle>[], trustBundle: string): Plan {
  const name = bundleName(trustBundle);
  const deletions = bundles.filter(({ metadata }) => metadata.name !== name && !isBeingDeleted(metadata));
  const present = bundles.find(({ metadata }) => metadata.name === name);
  if (present === undefined) {
    return { write: { verb: 'create', bundle: { metadata: { name }, spec: { signerName, trustBundle } } }, deletions };
  }
  if (present.spec.trustBundle === trustBundle) return { deletions };
  const bundle = { ...present, spec: { ...present.spec, trustBundle } } as Unsaved<ClusterTrustBundle>;
  return { write: { verb: 'update', bundle }, deletions };
}

/** The API server demands the prefix of bundles that have a signer. */
export function bundleName(trustBundle: string): string {
  const hash = createHash('sha256').update(trustBundle).digest('hex').slice(0, 24);
  return `${signerName.replaceAll('/', ':')}:${hash}`;
}
