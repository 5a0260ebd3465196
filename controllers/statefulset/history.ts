import {
  StatefulSets,
  type Cached,
  type ControllerRevision,
  type Pod,
  type StatefulSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  newRevision,
  nextRevisionNumber,
  revisionData,
  selectSurplusRevisions,
  templateOfRevision,
  templatePatch,
} from '../../pkg/revisions/index.ts';
import { revisionOf, type Version } from './identity.ts';
import { isSameTemplate } from './template-form.ts';

type Revision = Cached<ControllerRevision>;

/** The origin of the update revision, which is the revision of the set's template. */
export type UpdateRevision =
  | { readonly kind: 'known'; readonly revision: Revision }
  /** An older revision has the same data: it becomes the newest. */
  | { readonly kind: 'renumber'; readonly revision: Revision; readonly number: bigint }
  | { readonly kind: 'create'; readonly revision: Unsaved<ControllerRevision> };

const hashLabel = 'controller.kubernetes.io/hash';

/** The count is part of every hash, also before the first collision. */
export const collisionCountOf = ({ status }: Cached<StatefulSet>): number => status?.collisionCount ?? 0;

/**
 * Finds the revision of the set's template. `revisions` are sorted, oldest first. With `comparesMeaning`, the newest
 * revision is also used if its data differs only in form: a release of Kubernetes that writes other data for the same
 * template must not replace every pod.
 */
export function planUpdateRevision(
  set: Cached<StatefulSet>,
  revisions: readonly Revision[],
  { comparesMeaning }: { readonly comparesMeaning: boolean },
): UpdateRevision {
  const data = templatePatch(set);
  const newest = revisions.at(-1);
  const equal = revisions.findLast((revision) => revisionData(revision) === data);
  if (newest !== undefined && equal === newest) return { kind: 'known', revision: newest };
  const number = nextRevisionNumber(revisions);
  if (equal !== undefined) return { kind: 'renumber', revision: equal, number };
  if (comparesMeaning && newest !== undefined && restoresTemplate(newest, set)) {
    return { kind: 'known', revision: newest };
  }
  const collisionCount = collisionCountOf(set);
  const described = { kind: StatefulSets, owner: set, revision: number, collisionCount, hashLabel };
  return { kind: 'create', revision: newRevision(described) };
}

function restoresTemplate(revision: Revision, { spec }: Cached<StatefulSet>): boolean {
  const template = templateOfRevision(revision);
  return template !== undefined && isSameTemplate(template, spec.template);
}

/** The revision that the status has as current; the update revision if it does not exist. */
export function selectCurrentRevision(
  set: Cached<StatefulSet>,
  revisions: readonly Revision[],
  update: Revision,
): Revision {
  const name = set.status?.currentRevision;
  return revisions.find(({ metadata }) => metadata.name === name) ?? update;
}

/** The template of a revision. Data without a template does not change the set. */
export function versionOf(set: Cached<StatefulSet>, revision: Revision): Version {
  return { name: revision.metadata.name, template: templateOfRevision(revision) ?? set.spec.template };
}

/** The oldest revisions beyond the history limit. Those of pods or the status do not count. */
export function selectSurplus(
  set: Cached<StatefulSet>,
  revisions: readonly Revision[],
  { pods, live }: { readonly pods: readonly Cached<Pod>[]; readonly live: readonly Revision[] },
): readonly Revision[] {
  const limit = set.spec.revisionHistoryLimit ?? 10;
  if (limit < 0) return []; // allowed by the API: nothing is deleted
  const inUse = new Set([...live.map(({ metadata }) => metadata.name), ...pods.map(revisionOf)]);
  const old = revisions.filter(({ metadata }) => !inUse.has(metadata.name));
  return selectSurplusRevisions(old, limit, () => false);
}
