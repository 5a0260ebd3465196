import {
  compileSelector,
  ReplicaSets,
  ReplicationControllers,
  selectorFromSet,
  type Cached,
  type Kind,
  type Labels,
  type ReplicaSet,
  type ReplicationController,
  type Selector,
} from '../../pkg/api/index.ts';

/** The two kinds that run a number of equal pods. They share all rules. The differences are listed below. */
export type Replicated = ReplicaSet | ReplicationController;

export interface ReplicaKind<T extends Replicated> {
  readonly kind: Kind<T>;
  readonly controllerName: string;
  /** The queue's name in metrics. */
  readonly queueName: string;
  /** The source of events, and the name of the service account. */
  readonly component: string;
  /** Throws `InvalidSelectorError` if the selector is invalid. */
  selectorOf(owner: Cached<T>): Selector;
  /** Labels that every selected pod has. Owners are indexed by them. */
  requiredLabelsOf(owner: Cached<T>): Labels;
  /** Whether the kind's status has a count of terminating pods. */
  readonly countsTerminating: boolean;
  /** Whether skipped syncs are counted: the metric exists for ReplicaSets only. */
  readonly countsSkips: boolean;
}

export const replicaSetKind: ReplicaKind<ReplicaSet> = {
  kind: ReplicaSets,
  controllerName: 'replicaset-controller',
  queueName: 'replicaset',
  component: 'replicaset-controller',
  selectorOf: ({ spec }) => compileSelector(spec.selector),
  requiredLabelsOf: ({ spec }) => spec.selector.matchLabels ?? {},
  countsTerminating: true,
  countsSkips: true,
};

export const replicationControllerKind: ReplicaKind<ReplicationController> = {
  kind: ReplicationControllers,
  controllerName: 'replicationcontroller-controller',
  queueName: 'replicationmanager',
  component: 'replication-controller',
  selectorOf: ({ spec }) => selectorFromSet(spec.selector ?? {}),
  requiredLabelsOf: ({ spec }) => spec.selector ?? {},
  countsTerminating: false,
  countsSkips: false,
};
