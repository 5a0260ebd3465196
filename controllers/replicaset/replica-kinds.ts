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

/** The two kinds that keep a number of equal pods. They share every rule and differ only in what is listed here. */
export type Replicated = ReplicaSet | ReplicationController;

export interface ReplicaKind<T extends Replicated> {
  readonly kind: Kind<T>;
  readonly controllerName: string;
  /** The queue's name on metrics. */
  readonly queueName: string;
  /** The source of events; also the service account. */
  readonly component: string;
  /** Throws `InvalidSelectorError` where the object's selector is no selector. */
  selectorOf(owner: Cached<T>): Selector;
  /** Labels that every selected pod carries, by which owners are indexed. */
  requiredLabelsOf(owner: Cached<T>): Labels;
  /** Whether the kind's status has room for pods on their way out. */
  readonly countsTerminating: boolean;
  /** Whether syncs that wait for the cache are counted: there is a series for ReplicaSets only. */
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
