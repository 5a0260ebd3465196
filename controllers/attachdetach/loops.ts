import { keyOf, objectKey, type ObjectKey } from '../../pkg/api/index.ts';
import {
  runPeriodically,
  runWorkers,
  type ControllerContext,
  type ReconcileResult,
  type Syncable,
} from '../../pkg/controller/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import type { HandlerDeps } from './handlers.ts';
import { attaches } from './pod-volumes.ts';
import { mayHaveAttached } from '../../pkg/volumes/index.ts';
import { populate } from './populate.ts';
import type { ReconcileDeps, Reconciles } from './reconciles.ts';
import { verifyAttached } from './verify.ts';

/** An operation sends its request and ends: waiting for the external attacher occupies no worker. */
const workers = 10;
/** Volumes of a node are attached one by one, and reported together, at the interval at which Go looks for changes. */
const reportIntervalMs = 100;

export interface LoopOptions {
  /** Undefined: attached volumes are never verified. */
  readonly verifyPeriodMs: number | undefined;
  readonly isForceDetachDisabled: boolean;
}

export interface LoopDeps
  extends Omit<HandlerDeps, 'queues'>, Omit<ReconcileDeps, 'queues' | 'informers'>, LoopOptions {
  readonly name: string;
  readonly context: ControllerContext;
  readonly queues: {
    readonly pods: WorkQueue<ObjectKey>;
    readonly volumes: WorkQueue<string>;
    readonly nodes: WorkQueue<ObjectKey>;
  };
}

type Loop = (signal: AbortSignal) => Promise<void>;

export function createLoops(deps: LoopDeps, reconciles: Reconciles, handlers: readonly Syncable[]): Loop[] {
  const { context, informers, name, pending, queues, verifyPeriodMs } = deps;
  let started: Promise<unknown> | undefined;
  const waitForSync = async (signal: AbortSignal): Promise<void> => {
    started ??= Promise.all(handlers.map((handler) => handler.waitForSync(signal))).then(() => start(deps, reconciles));
    await started;
  };
  const caches = [{ waitForSync }];
  const base = { name, context, caches, workers };

  async function reconcilePod(key: ObjectKey): Promise<ReconcileResult> {
    reconciles.pod(key);
    return {};
  }

  async function verify(signal: AbortSignal): Promise<void> {
    if (verifyPeriodMs === undefined) return;
    const isAttachable = (driver: string): boolean =>
      attaches(informers.drivers.store.get(objectKey(undefined, driver)));
    const verifyDeps = { ...deps, isAttachable, onLost: reconciles.lost };
    const timing = { periodMs: verifyPeriodMs, clock: context.clock, logger: context.logger, caches };
    await runPeriodically(timing, (each) => verifyAttached(verifyDeps, each), signal);
  }

  const { node, known, volume } = reconciles;
  const care = { primary: informers.nodes.store, ownWrites: [pending], minIntervalMs: () => reportIntervalMs };
  return [
    (signal) => runWorkers({ ...base, queue: queues.pods, reconcile: reconcilePod }, signal),
    (signal) => runWorkers({ ...base, queue: queues.volumes, reconcile: volume, primary: known }, signal),
    (signal) => runWorkers({ ...base, ...care, queue: queues.nodes, reconcile: node }, signal),
    verify,
  ];
}

/** Rebuilds the state from the API. Every need must be known before the first volume is detached. */
function start({ informers, queues, world }: LoopDeps, reconciles: Reconciles): void {
  const { attachments, drivers, nodes, pods, volumes } = informers;
  const initial = { nodes: nodes.store.list(), attachments: attachments.store.list() };
  populate(world, { ...initial, volumes: volumes.store, drivers: drivers.store });
  for (const pod of pods.store.list()) if (mayHaveAttached(pod)) reconciles.pod(keyOf(pod));
  for (const { volumeName } of world.actual.all()) queues.volumes.add(volumeName);
}
