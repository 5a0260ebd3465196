import {
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import {
  podsByClaim,
  runAll,
  runPeriodically,
  runWorkers,
  type Controller,
  type ControllerContext,
} from '../../pkg/controller/index.ts';
import type { OperationAction, Subjects } from './apply.ts';
import { BusyVolumes } from './busy.ts';
import { enqueueAll, handleClaims, handleVolumes } from './handlers.ts';
import { Latest } from './latest.ts';
import { countClaims, countVolumes, defineBinderMetrics, OperationTimes } from './metrics.ts';
import { Operations } from './operations.ts';
import { PodWatch } from './pod-watch.ts';
import type { Recyclers } from './recycler-pod.ts';
import { startOperation } from './start-operation.ts';
import { createClaimSync, createVolumeSync, defaultClasses, type SyncDeps } from './syncs.ts';
import { VolumeIndex } from './volume-index.ts';

const name = 'persistentvolume-binder-controller';
/** The Go binary has one for each. Here a volume that a claim is about to get is busy, so that several can search at once. */
const workers = 10;

export interface BinderOptions {
  readonly syncPeriodMs: number;
  readonly isProvisioningEnabled: boolean;
  readonly isHostPathEnabled: boolean;
  readonly recyclers: Recyclers;
}

/** Binds claims to volumes, has volumes provisioned, and reclaims those whose claim is gone. */
export function createPersistentVolumeBinder(context: ControllerContext, options: BinderOptions): Controller {
  const { clock, logger } = context;
  const [claimQueue, volumeQueue] = [context.queueFor('claims'), context.queueFor('volumes')];
  const claims = context.informers.informerFor(PersistentVolumeClaims);
  const volumes = context.informers.informerFor(PersistentVolumes);
  const classes = context.informers.informerFor(StorageClasses);
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const attributesClasses = context.gates.isEnabled('VolumeAttributesClass');
  const metrics = defineBinderMetrics(context.metrics);
  const podWatch = new PodWatch(pods.store);
  const operations = new Operations(clock, logger);

  pods.addIndex(podsByClaim);
  classes.addIndex(defaultClasses);
  const deps: SyncDeps = {
    client: context.clientFor('persistent-volume-binder'),
    recorder: context.recorderFor('persistentvolume-controller'),
    clock,
    metrics,
    claims: new Latest<PersistentVolumeClaim>(claims.store, clock),
    volumes: new Latest<PersistentVolume>(volumes.store, clock),
    index: new VolumeIndex({ attributesClasses }),
    busy: new BusyVolumes((key) => volumeQueue.add(key)),
    times: new OperationTimes(metrics, () => clock.monotonic()),
    classes: classes.store,
    pods: pods.store,
    nodes: nodes.store,
    operations,
    podWatch,
    ...options,
    options: { attributesClasses, ...options },
    enqueueClaim: (key) => claimQueue.add(key),
    startOperation: (action: OperationAction, about: Subjects) => startOperation(action, about, deps),
  };
  const handlers = [
    volumes.addHandler(handleVolumes({ ...deps, claimQueue, volumeQueue })),
    claims.addHandler(handleClaims({ ...deps, claimQueue, volumeQueue })),
    volumes.addHandler(countVolumes(metrics)),
    claims.addHandler(countClaims(metrics)),
    pods.addHandler(podWatch.handler()),
  ];

  const resync = (): void => {
    enqueueAll(claims.store, claimQueue); // one may find a new volume
    enqueueAll(volumes.store, volumeQueue); // one that could not be reclaimed gets another chance
  };
  const caches = [claims, volumes, classes, pods, nodes, ...handlers];
  const work = { name, context, caches, workers };
  const claimWork = { ...work, queue: claimQueue, reconcile: createClaimSync(deps), primary: claims.store };
  const volumeWork = { ...work, queue: volumeQueue, reconcile: createVolumeSync(deps), primary: volumes.store };
  const loops = [
    (signal: AbortSignal) => operations.run(signal),
    (signal: AbortSignal) => runWorkers(volumeWork, signal),
    (signal: AbortSignal) => runWorkers(claimWork, signal),
    (signal: AbortSignal) => runPeriodically({ periodMs: options.syncPeriodMs, clock, logger, caches }, resync, signal),
  ];
  return { name, run: (signal) => runAll(loops, signal) };
}
