import {
  apiVersionOf,
  copyOf,
  isBeingDeleted,
  PersistentVolumeClaims,
  setOwn,
  type Cached,
  type PersistentVolumeClaim,
  type StatefulSet,
  type Unsaved,
} from '../../pkg/api/index.ts';

export type Claim = PersistentVolumeClaim;
type ClaimTemplate = NonNullable<StatefulSet['spec']['volumeClaimTemplates']>[number];

/** The claims that exist, by name. */
export type KnownClaims = ReadonlyMap<string, Cached<Claim>>;

export const claimTemplatesOf = ({ spec }: Cached<StatefulSet>): readonly Cached<ClaimTemplate>[] =>
  spec.volumeClaimTemplates ?? [];

/** The name of a claim without its ordinal. */
export function claimPrefixOf(set: Cached<StatefulSet>, template: Cached<ClaimTemplate>): string {
  return `${template.metadata?.name ?? ''}-${set.metadata.name}`;
}

export function claimNameOf(set: Cached<StatefulSet>, template: Cached<ClaimTemplate>, ordinal: number): string {
  return `${claimPrefixOf(set, template)}-${ordinal}`;
}

/** The names of the claims of the pod at this ordinal, in the order of their templates. */
export function claimNamesOf(set: Cached<StatefulSet>, ordinal: number): string[] {
  return claimTemplatesOf(set).map((template) => claimNameOf(set, template, ordinal));
}

/** The claim of a template. It has the labels that the set selects by. */
function newClaim(set: Cached<StatefulSet>, template: Cached<ClaimTemplate>, ordinal: number): Unsaved<Claim> {
  const { metadata, spec } = copyOf<ClaimTemplate>(template);
  const labels: Record<string, string> = { ...metadata?.labels };
  const selected = Object.entries(set.spec.selector.matchLabels ?? {});
  for (const [name, value] of selected) setOwn(labels, name, value);
  return {
    apiVersion: apiVersionOf(PersistentVolumeClaims),
    kind: PersistentVolumeClaims.kind,
    metadata: {
      ...metadata,
      name: claimNameOf(set, template, ordinal),
      namespace: set.metadata.namespace,
      labels: Object.keys(labels).length === 0 ? undefined : labels,
    },
    spec: spec ?? {},
  };
}

/** The reasons why a pod does not have its claims. */
export interface ClaimsPlan {
  readonly create: readonly Unsaved<Claim>[];
  /** Claims that are being deleted. Their names are in use until then. */
  readonly terminating: readonly string[];
}

export function planClaims(set: Cached<StatefulSet>, ordinal: number, known: KnownClaims): ClaimsPlan {
  const create: Unsaved<Claim>[] = [];
  const terminating: string[] = [];
  for (const template of claimTemplatesOf(set)) {
    const name = claimNameOf(set, template, ordinal);
    const claim = known.get(name);
    if (claim === undefined) create.push(newClaim(set, template, ordinal));
    else if (isBeingDeleted(claim.metadata)) terminating.push(name);
  }
  return { create, terminating };
}
