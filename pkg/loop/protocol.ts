/** The messages between the process and its page. Types only: both sides import them. */

export type ItemState = 'good' | 'busy' | 'bad' | 'ended';

/** One object in the picture of the cluster. */
export interface Item {
  /** The uid. */
  readonly id: string;
  readonly kind: string;
  /** The name in paths, such as `deployments.apps`. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** The uid of its controller. */
  readonly owner?: string | undefined;
  readonly state: ItemState;
  /** The state in a few words: `3 of 4 available`. */
  readonly text: string;
  /** Pods: the name of their node. */
  readonly node?: string | undefined;
  /** EndpointSlices: the uids of the pods in them. */
  readonly targets?: readonly string[] | undefined;
}

/** What a picture shows. Absent or empty: everything. */
export interface Filter {
  readonly namespace?: string | undefined;
  readonly kind?: string | undefined;
  /** A part of the name. */
  readonly name?: string | undefined;
}

/** Event `picture`: replaces everything that was sent before. */
export interface Picture {
  readonly items: readonly Item[];
  /** How many objects match the filter. More than `items` if there are too many to show. */
  readonly total: number;
  readonly namespaces: readonly string[];
  readonly kinds: readonly string[];
}

/** Event `changes`: since the last `picture` or `changes`. */
export interface Changes {
  readonly changed: readonly Item[];
  /** Uids. */
  readonly removed: readonly string[];
  readonly total: number;
  readonly namespaces: readonly string[];
}

/** Event `loop`: the state of all controllers. */
export interface LoopState {
  readonly lease: LeaseState | undefined;
  readonly lanes: readonly Lane[];
  readonly caches: readonly CacheState[];
}

export interface LeaseState {
  /** `namespace/name` */
  readonly name: string;
  /** The identity of the leader; empty if there is none. */
  readonly holder: string;
  /** This process leads. */
  readonly isOurs: boolean;
  /** Since the lease was last seen to be renewed. */
  readonly renewedAgoMs: number | undefined;
  readonly durationMs: number;
}

/** One queue and its workers. Most controllers have one. */
export interface Lane {
  readonly controller: string;
  readonly queue: string;
  /** The resource of the objects that its keys name, if known: `deployments.apps`. */
  readonly resource: string | undefined;
  /** Keys added since the start: what events became. */
  readonly added: number;
  readonly done: number;
  readonly conflicts: number;
  readonly failed: number;
  /** The first keys of each list. The counts are of all. */
  readonly waiting: readonly string[];
  readonly waitingCount: number;
  readonly delayed: readonly DelayedKey[];
  readonly delayedCount: number;
  readonly running: readonly RunningKey[];
  /** Oldest first, one every `sampleMs`: keys that waited, and the mean duration of the reconciles. */
  readonly depths: readonly number[];
  readonly latenciesMs: readonly number[];
  readonly sampleMs: number;
}

export interface DelayedKey {
  readonly key: string;
  readonly dueInMs: number;
  /** Failures in a row. 0: the controller asked for the delay. */
  readonly retries: number;
}

export interface RunningKey {
  readonly key: string;
  readonly forMs: number;
}

export interface CacheState {
  /** Such as `deployments.apps`, with ` (metadata)` if only metadata is cached. */
  readonly name: string;
  readonly size: number;
  readonly synced: boolean;
  /** Since the last change. */
  readonly changedAgoMs: number | undefined;
}

/** Event `object`, and the answer at `objects/<resource>/<namespace>/<name>`. */
export interface ObjectPage {
  readonly kind: string;
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** The cache has the object. */
  readonly exists: boolean;
  readonly state: ItemState;
  readonly text: string;
  readonly generation?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly conditions: readonly ConditionLine[];
  /** From the controller of the object up to the root. */
  readonly owners: readonly Item[];
  readonly owned: readonly Item[];
  readonly waits: readonly Wait[];
  /** Newest first. */
  readonly history: readonly ReconcileRecord[];
  /** Newest first. */
  readonly events: readonly EventLine[];
  /** History is recorded since then, in milliseconds of the epoch. */
  readonly recordedSinceMs: number;
}

export interface ConditionLine {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339 */
  readonly since: string;
}

/** Where a key of the object is. */
export interface Wait {
  readonly controller: string;
  readonly state: 'waiting' | 'delayed' | 'running';
  /** Until it is due, or since it runs; 0 while it waits. */
  readonly ms: number;
  readonly retries: number;
}

export type RecordOutcome = 'running' | 'success' | 'requeue_after' | 'conflict' | 'error' | 'terminal_error';

/** One reconcile. */
export interface ReconcileRecord {
  readonly id: number;
  readonly controller: string;
  readonly key: string;
  /** Milliseconds of the epoch. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly outcome: RecordOutcome;
  readonly error?: string | undefined;
  readonly requeueAfterMs?: number | undefined;
  /** In words: `Deployment default/web at version 812`. */
  readonly reads: readonly string[];
  /** In words: `scale replica set web-5d4f from 1 to 2`. */
  readonly plan: readonly string[];
  readonly requests: readonly RequestLine[];
}

export interface RequestLine {
  /** Verb and object: `create pods default/web-5d4f-x`. */
  readonly attempted: string;
  /** The HTTP status, or `<error>` without a response. */
  readonly code: string;
  readonly durationMs: number;
  /** The message of the server, if it refused. */
  readonly message?: string | undefined;
}

export interface EventLine {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly source: string;
  /** RFC 3339 */
  readonly last: string;
}

/** The answer at `settings`. */
export interface Settings {
  /** The name of the process. */
  readonly name: string;
  /** What the page may ask for with `POST try/<id>`; empty in production. */
  readonly tries: readonly TryAction[];
}

/** Something to try. Its body is a JSON object with these fields as strings. */
export interface TryAction {
  readonly id: string;
  readonly label: string;
  /** What happens, and what to watch. */
  readonly description: string;
  /** Offered on the pages of these resources; empty: for the cluster as a whole. */
  readonly resources: readonly string[];
  readonly fields: readonly TryField[];
}

/** On the page of an object, its `resource`, `namespace` and `name` are sent too. */
export interface TryField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'number' | 'text' | 'seconds';
  readonly default: string;
}

/** The answer to a try. `problem`: it was refused, or failed. */
export interface TryResult {
  readonly told: string;
  readonly problem?: boolean | undefined;
}
