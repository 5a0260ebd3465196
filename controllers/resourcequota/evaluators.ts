import { Pods, PersistentVolumeClaims, ResourceClaims, Services, type Kind } from '../../pkg/api/index.ts';
import type { FeatureGates } from '../../pkg/controller/index.ts';
import {
  countedResource,
  createCountEvaluator,
  createPodEvaluator,
  createResourceClaimEvaluator,
  serviceEvaluator,
  volumeClaimEvaluator,
  type Evaluator,
  type ExtendedResources,
  type PodEvaluatorOptions,
} from '../../pkg/quota/index.ts';

/** Charges the objects of a kind. */
export interface Charged {
  readonly evaluator: Evaluator;
  readonly kind: Kind;
  /** The metadata of the objects is enough. */
  readonly countsOnly: boolean;
}

/** Finds who charges for the names of a quota. Kinds come and go with `kindOf`. */
export interface Evaluators {
  /** Those that charge under at least one of the names. */
  forNames(names: Iterable<string>): Charged[];
}

export function podOptions(gates: FeatureGates, nowMs: () => number): PodEvaluatorOptions {
  return { nowMs, podLevel: gates.isEnabled('PodLevelResources') };
}

export function createEvaluators(deps: {
  readonly pods: PodEvaluatorOptions;
  readonly extended: ExtendedResources | undefined;
  /** The kind of a resource that the server serves and that can be counted. */
  readonly kindOf: (resource: string) => Kind | undefined;
}): Evaluators {
  const special = [
    { evaluator: createPodEvaluator(deps.pods), kind: Pods },
    { evaluator: serviceEvaluator, kind: Services },
    { evaluator: volumeClaimEvaluator, kind: PersistentVolumeClaims },
    { evaluator: createResourceClaimEvaluator(deps.extended), kind: ResourceClaims },
  ].map(({ evaluator, kind }): Charged => ({ evaluator, kind, countsOnly: false }));
  const specialResources = new Set(special.map(({ evaluator }) => evaluator.resource));
  const counts = new Map<string, Evaluator>();

  function countOf(resource: string): Charged[] {
    const kind = deps.kindOf(resource);
    if (kind === undefined) {
      counts.delete(resource);
      return [];
    }
    const evaluator = counts.get(resource) ?? createCountEvaluator(resource);
    counts.set(resource, evaluator);
    return [{ evaluator, kind, countsOnly: true }];
  }

  return {
    forNames(names) {
      const all = [...names];
      const counted = all.map(countedResource).filter((resource) => resource !== undefined);
      return [
        ...special.filter(({ evaluator, kind }) => {
          const isServed = deps.kindOf(evaluator.resource)?.version === kind.version;
          return isServed && all.some((name) => evaluator.tracks(name));
        }),
        ...[...new Set(counted)].filter((resource) => !specialResources.has(resource)).flatMap(countOf),
      ];
    },
  };
}
