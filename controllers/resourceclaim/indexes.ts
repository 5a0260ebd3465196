import { objectKey, type Cached, type Pod, type PodGroup } from '../../pkg/api/index.ts';
import { claimNamesOf, claimTemplatesOf } from '../../pkg/resourceclaims/index.ts';
import { defineIndex } from '../../informers/index.ts';

/** Pods and pod groups by the keys of their claims and templates. */
export const podsByResourceClaim = defineIndex<Pod>('resource claim', (pod) => inNamespaceOf(pod, claimNamesOf(pod)));
export const podsByClaimTemplate = defineIndex<Pod>('resource claim template', (pod) =>
  inNamespaceOf(pod, claimTemplatesOf(pod)),
);
export const groupsByResourceClaim = defineIndex<PodGroup>('resource claim', (group) =>
  inNamespaceOf(group, claimNamesOf(group)),
);
export const groupsByClaimTemplate = defineIndex<PodGroup>('resource claim template', (group) =>
  inNamespaceOf(group, claimTemplatesOf(group)),
);

function inNamespaceOf({ metadata }: Cached<Pod> | Cached<PodGroup>, names: readonly string[]): string[] {
  return names.map((name) => objectKey(metadata.namespace, name));
}
