import { findCondition, formatTime, type Cached, type NamespaceCondition } from '../../pkg/api/index.ts';
import type { Remaining } from './remaining.ts';

export interface DeletionOutcome {
  /** Group versions whose discovery failed, with the error. */
  readonly undiscovered: ReadonlyMap<string, string>;
  /** Group versions that cannot be parsed. */
  readonly unparsable: readonly string[];
  /** Errors of single resources, in the words of the API server. */
  readonly failures: readonly string[];
  readonly remaining: readonly Remaining[];
  /** Other resources are not deleted before the last pod is gone, so their remaining objects are not known. */
  readonly waitsForPods: boolean;
}

/** Whether the namespace is empty, and discovery was complete. */
export function isEmptied({ undiscovered, unparsable, failures, remaining }: DeletionOutcome): boolean {
  return undiscovered.size === 0 && unparsable.length === 0 && failures.length === 0 && remaining.length === 0;
}

/** The errors of the deletion. Objects that are still terminating are no error. */
export function problemsOf({ undiscovered, unparsable, failures }: DeletionOutcome): readonly string[] {
  return [
    ...failures,
    ...(undiscovered.size > 0 ? [discoveryFailure(undiscovered)] : []),
    ...unparsable.map(parsingFailure),
  ];
}

interface Verdict {
  readonly reason: string;
  readonly message: string;
}

/** All conditions in their order, with reason and message for success. */
const wellWith: ReadonlyMap<string, Verdict> = new Map([
  [
    'NamespaceDeletionDiscoveryFailure',
    { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
  ],
  [
    'NamespaceDeletionGroupVersionParsingFailure',
    { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
  ],
  [
    'NamespaceDeletionContentFailure',
    { reason: 'ContentDeleted', message: 'All content successfully deleted, may be waiting on finalization' },
  ],
  ['NamespaceContentRemaining', { reason: 'ContentRemoved', message: 'All content successfully removed' }],
  [
    'NamespaceFinalizersRemaining',
    { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
  ],
]);

/** The namespace's conditions, updated with the outcome of the deletion. */
export function computeConditions(
  present: readonly Cached<NamespaceCondition>[],
  outcome: DeletionOutcome,
  nowMs: number,
): readonly Cached<NamespaceCondition>[] {
  const troubles = findTroubles(outcome);
  const ours = [...wellWith].map(([type, well]): Cached<NamespaceCondition> => {
    const trouble = troubles.get(type);
    const status = trouble === undefined ? 'False' : 'True';
    const before = findCondition(present, type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(nowMs);
    return { type, status, lastTransitionTime, ...(trouble ?? well) };
  });
  const byType = new Map(ours.map((condition) => [condition.type, condition]));
  const updated = present.map((condition) => byType.get(condition.type) ?? condition);
  return [...updated, ...ours.filter(({ type }) => findCondition(present, type) === undefined)];
}

function findTroubles(outcome: DeletionOutcome): ReadonlyMap<string, Verdict> {
  const { undiscovered, unparsable, failures } = outcome;
  // As in the Go binary: remaining objects are reported after the pods are gone, when all of them are known.
  const remaining = outcome.waitsForPods ? [] : outcome.remaining;
  const troubles = new Map<string, Verdict>();
  if (undiscovered.size > 0) {
    troubles.set('NamespaceDeletionDiscoveryFailure', {
      reason: 'DiscoveryFailed',
      message: `Discovery failed for some groups, ${undiscovered.size} failing: ${discoveryFailure(undiscovered)}`,
    });
  }
  if (unparsable.length > 0) {
    troubles.set('NamespaceDeletionGroupVersionParsingFailure', {
      reason: 'GroupVersionParsingFailed',
      message: unparsable.map(parsingFailure).join(', '),
    });
  }
  if (failures.length > 0) {
    troubles.set('NamespaceDeletionContentFailure', {
      reason: 'ContentDeletionFailed',
      message: `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
    });
  }
  if (remaining.length > 0) {
    const resources = remaining.map(
      ({ kind, count }) => `${kind.resource}.${kind.group} has ${count} resource instances`,
    );
    troubles.set('NamespaceContentRemaining', {
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: ${resources.sort().join(', ')}`,
    });
  }
  const finalizers = countFinalizers(remaining);
  if (finalizers.size > 0) {
    const holders = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`);
    troubles.set('NamespaceFinalizersRemaining', {
      reason: 'SomeFinalizersRemain',
      message: `Some content in the namespace has finalizers remaining: ${holders.sort().join(', ')}`,
    });
  }
  return troubles;
}

function countFinalizers(remaining: readonly Remaining[]): ReadonlyMap<string, number> {
  const total = new Map<string, number>();
  for (const { finalizers } of remaining) {
    for (const [name, count] of finalizers) total.set(name, (total.get(name) ?? 0) + count);
  }
  return total;
}

function parsingFailure(groupVersion: string): string {
  return `unexpected GroupVersion string: ${groupVersion}`;
}

/** One message for all discovery errors. */
function discoveryFailure(undiscovered: ReadonlyMap<string, string>): string {
  const groups = [...undiscovered].map(([groupVersion, why]) => `${groupVersion}: ${why}`);
  return `unable to retrieve the complete list of server APIs: ${groups.sort().join(', ')}`;
}

/** The namespace keeps content that could not be deleted, or not even found. */
export class ContentLeftError extends Error {
  override readonly name = 'ContentLeftError';
  readonly reason = 'ContentLeft';

  constructor(namespace: string, problems: readonly string[]) {
    super(`delete the content of namespace ${namespace}: ${problems.join('; ')}`);
  }
}
