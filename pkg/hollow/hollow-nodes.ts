import { once } from 'node:events';

import { keyOf, Nodes, type ObjectKey, PersistentVolumeClaims, Pods } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { runAll, runWorkers, type Work } from '../controller/index.ts';
import {
  createSharedInformerFactory,
  type HandlerRegistration,
  type InformerFactory,
  type SharedInformerFactory,
} from '../../informers/index.ts';
import type { Logger } from '../log/index.ts';
import type { Clock } from '../time/index.ts';
import { createWorkQueue, exponentialLimiter, type WorkQueue } from '../../workqueue/index.ts';
import { Fleet, type HollowNode, keyOfNode } from './fleet.ts';
import { createHeartbeats, followNodes, type Heartbeats } from './node-heartbeats.ts';
import type { WantedCondition } from './node-object.ts';
import { createPodRunner, type PodRunner } from './pod-runner.ts';
import { volumesInUse, type VolumeStores } from './pod-volumes.ts';
import { momentMs } from './settings.ts';
import { createSandboxClass, simulateProvisioner } from './provisioner.ts';
import { simulateVolumes, volumeStoresOf } from './volumes.ts';

export interface HollowNodesOptions {
  /** A client without a rate limit: the limit would slow the simulation down. */
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Informers that the caller runs. Default: own informers. */
  readonly informers?: InformerFactory | undefined;
  readonly nodes: number;
  /** Nodes are named `<prefix>-<number>`. Default: hollow-node. */
  readonly namePrefix?: string | undefined;
  /** Zones, assigned to nodes round-robin as `topology.kubernetes.io/zone`. Default: zone-a, zone-b, zone-c. */
  readonly zones?: readonly string[] | undefined;
  /** More labels for every node. */
  readonly nodeLabels?: Readonly<Record<string, string>> | undefined;
  /** The pod capacity of a node. Only a real scheduler uses it. Default: 1000. */
  readonly podCapacity?: number | undefined;
  /** Nodes are tainted until a cloud has described them, as by kubelets with an external cloud. Default: false. */
  readonly externalCloud?: boolean | undefined;
  /** The delay from Running to Ready. Default: 0, both in one write. */
  readonly podReadyDelayMs?: number | undefined;
  /** How long containers take to stop after a deletion. Default: until their grace period ends. */
  readonly podStopDelayMs?: number | undefined;
  /** How long the containers of Jobs run. Default: 1 s. `Infinity`: until the pod is deleted. */
  readonly jobRunMs?: number | undefined;
  /** The delay before the second restart of containers. Doubles each time. Default: 10 s, like the kubelet. */
  readonly restartBackoffMs?: number | undefined;
  /** Default: 10 s, like the kubelet. */
  readonly leaseRenewMs?: number | undefined;
  /** How often a node reports an unchanged status. Default: 5 min, like the kubelet. */
  readonly statusReportMs?: number | undefined;
  /** Binds the pods of the default scheduler. Set to false if a real scheduler runs. Default: true. */
  readonly bindsPods?: boolean | undefined;
  /**
   * Provisions the volumes of a class `sandbox`, which is created and is the default one. Pods wait for their claims to be
   * bound: a binder must run. Default: false.
   */
  readonly provisionsVolumes?: boolean | undefined;
  /** Pods also get an IPv6 address. Default: false. */
  readonly dualStack?: boolean | undefined;
  /** The number of workers for pods. Default: 32. */
  readonly concurrency?: number | undefined;
}

/** A running simulation. */
export interface HollowNodes {
  readonly nodeNames: readonly string[];
  /** The machine stops: no lease renewals, no status, no work on its pods. */
  stopHeartbeats(nodeName: string): void;
  /** The machine continues. */
  resumeHeartbeats(nodeName: string): void;
  /** Sets a condition that the node reports from now on. */
  setCondition(nodeName: string, condition: WantedCondition): void;
  /** Settles once the signal has aborted and no work is left running. */
  readonly stopped: Promise<void>;
}

/**
 * Simulates the machines of a cluster: nodes that register and send heartbeats, and the pods on them (see
 * `podSettingNames` for settings of a pod). Resolves when all nodes are registered. Runs until the signal aborts.
 *
 * Run one simulation per cluster: two would allocate the same addresses.
 */
export async function startHollowNodes(options: HollowNodesOptions, signal: AbortSignal): Promise<HollowNodes> {
  const { client, clock, logger } = options;
  const fleet = new Fleet({
    nodes: options.nodes,
    namePrefix: options.namePrefix ?? 'hollow-node',
    zones: options.zones ?? ['zone-a', 'zone-b', 'zone-c'],
    labels: options.nodeLabels ?? {},
    podCapacity: options.podCapacity ?? 1000,
    isUninitialised: options.externalCloud ?? false,
  });
  const own = createSharedInformerFactory({ client, clock, logger });
  const informers = options.informers ?? own;
  const stores = volumeStoresOf(informers);
  const heartbeats = createHeartbeats({
    client,
    clock,
    fleet,
    volumesInUse: (hollow) => volumesInUse(hollow, stores),
    leaseRenewMs: options.leaseRenewMs ?? 10_000,
    statusReportMs: options.statusReportMs ?? 300_000,
  });
  // Register first: if the API server rejects a node, there is nothing to clean up.
  await forEachAtOnce(16, fleet.all, (hollow) => heartbeats.register(hollow, signal));
  if (options.provisionsVolumes === true) await createSandboxClass(client, signal);

  const simulation = createSimulation({ ...options, informers, stores }, fleet, heartbeats);
  const loops = simulation.works.map((work) => (inner: AbortSignal) => runWorkers(work, inner));
  if (options.informers === undefined) loops.push((inner) => runInformers(own, inner));
  const stopped = runAll(loops, signal).finally(() => {
    for (const registration of simulation.registrations) registration.remove();
  });
  // If no caller awaits `stopped`, an unhandled rejection would end the process.
  stopped.catch((error: unknown) => logger.error({ err: error }, 'hollow nodes stopped'));
  const synced = Promise.all(simulation.registrations.map((registration) => registration.waitForSync(signal)));
  await Promise.race([synced, stopped]);
  return createHandle(fleet, simulation, stopped);
}

interface Simulation {
  readonly works: readonly Work[];
  readonly queues: Record<'pods' | 'statuses' | 'leases' | 'attachments', WorkQueue<ObjectKey>>;
  readonly registrations: readonly HandlerRegistration[];
  readonly runner: PodRunner;
}

interface SimulationOptions extends HollowNodesOptions {
  readonly informers: InformerFactory;
  readonly stores: VolumeStores;
}

function createSimulation(options: SimulationOptions, fleet: Fleet, heartbeats: Heartbeats): Simulation {
  const { client, clock, informers, logger } = options;
  const queueFor = (name: string) =>
    createWorkQueue<ObjectKey>({ name, clock, rateLimiter: exponentialLimiter({ baseMs: 50, maxMs: 5000 }) });
  const queues = {
    pods: queueFor('hollow-pods'),
    statuses: queueFor('hollow-node-statuses'),
    leases: queueFor('hollow-leases'),
    attachments: queueFor('hollow-attachments'),
  };
  const provisioning = options.provisionsVolumes === true ? createProvisioning(client, informers, queueFor) : undefined;
  const claims = options.bindsPods === false ? undefined : informers.informerFor(PersistentVolumeClaims);
  const runner = createPodRunner({
    client,
    clock,
    fleet,
    pods: informers.informerFor(Pods),
    queue: queues.pods,
    defaults: {
      readyDelayMs: options.podReadyDelayMs ?? 0,
      jobRunMs: options.jobRunMs ?? momentMs,
      stopDelayMs: options.podStopDelayMs,
      restartBackoffMs: options.restartBackoffMs ?? 10_000,
    },
    claims: claims?.store,
    provisioning,
    stores: options.stores,
    dualStack: options.dualStack ?? false,
  });
  const on = {
    placementChanged: runner.enqueueWaiting,
    volumesChanged: runner.enqueuePending,
    switchedOn: runner.enqueuePodsOn,
  };
  const nodesSeen = informers.informerFor(Nodes).addHandler(followNodes(fleet, queues, on));
  const podsSeen = informers.informerFor(Pods).addHandler(runner.handler);
  const onFree = runner.enqueueUnplaced;
  const volumes = simulateVolumes({ client, fleet, informers, queues, onFree }); // after the runner, which keeps the pods of nodes
  const claimsSeen = claims?.addHandler({ added: (claim) => runner.enqueueClaiming(keyOf(claim)) });

  const base = { context: { clock, logger, reconciles: { finished: () => undefined } }, caches: [nodesSeen] };
  const { pods, statuses, leases, attachments } = queues;
  const more = [claimsSeen, ...(provisioning?.registrations ?? [])].filter((each) => each !== undefined);
  const podCaches = [nodesSeen, podsSeen, ...volumes.registrations, ...more];
  const podWork = { ...base, caches: podCaches, workers: options.concurrency ?? 32 };
  const works: Work[] = [
    { ...podWork, name: 'hollow-pods', queue: pods, reconcile: runner.reconcile },
    { ...base, name: 'hollow-attachments', queue: attachments, reconcile: volumes.reconcile, workers: 8 },
    { ...podWork, name: 'hollow-node-statuses', queue: statuses, reconcile: heartbeats.reportStatus, workers: 4 },
    { ...base, name: 'hollow-leases', queue: leases, reconcile: heartbeats.renewLease, workers: 4 },
    ...(provisioning?.works ?? []).map((work) => ({ ...base, ...work, caches: podCaches, workers: 8 })),
  ];
  return { works, queues, registrations: podCaches, runner };
}

function createProvisioning(
  client: Client,
  informers: InformerFactory,
  queueFor: (name: string) => WorkQueue<ObjectKey>,
) {
  const queues = { claims: queueFor('hollow-claims'), volumes: queueFor('hollow-volumes') };
  const simulation = simulateProvisioner({ client, informers, queues });
  const works = [
    { name: 'hollow-claims', queue: queues.claims, reconcile: simulation.reconcileClaim },
    { name: 'hollow-volumes', queue: queues.volumes, reconcile: simulation.reconcileVolume },
  ];
  return { ...simulation, works };
}

async function runInformers(factory: SharedInformerFactory, signal: AbortSignal): Promise<void> {
  factory.start(signal);
  if (!signal.aborted) await once(signal, 'abort');
  await factory.shutdown();
}

function createHandle(fleet: Fleet, { queues, runner }: Simulation, stopped: Promise<void>): HollowNodes {
  const wake = (hollow: HollowNode): void => {
    queues.statuses.add(keyOfNode(hollow));
    queues.leases.add(keyOfNode(hollow));
    runner.enqueuePodsOn(hollow.machine.name);
  };
  return {
    nodeNames: fleet.all.map(({ machine }) => machine.name),
    stopHeartbeats(nodeName) {
      const hollow = fleet.get(nodeName);
      if (hollow.state === 'alive') hollow.state = 'silent';
    },
    resumeHeartbeats(nodeName) {
      const hollow = fleet.get(nodeName);
      if (hollow.state !== 'silent') return;
      hollow.state = 'alive';
      hollow.reportedAtMs = 0; // report at once
      wake(hollow);
    },
    setCondition(nodeName, condition) {
      const hollow = fleet.get(nodeName);
      hollow.conditions.set(condition.type, condition);
      queues.statuses.add(keyOfNode(hollow));
    },
    stopped,
  };
}

async function forEachAtOnce<T>(atOnce: number, items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}
