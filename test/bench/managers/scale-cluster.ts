import { EndpointSlices, Namespaces, Pods, type EndpointSlice } from '../../../pkg/api/index.ts';
import { systemClock } from '../../../pkg/time/index.ts';
import { EtcdWriter } from '../etcd-writer.ts';
import {
  applicationEntries,
  leaseEntry,
  namespaceNames,
  nodeEntry,
  podAddress,
  podEntry,
  podKey,
  startedPodEntry,
  type ScaleSize,
} from './scale-objects.ts';
import type { Stage } from './stage.ts';

/** As the kubelet does. */
const leaseRenewMs = 10_000;
const heartbeatStepMs = 100;

/**
 * The nodes of a large cluster, at the cost of one etcd write per heartbeat and per start of a pod. They keep no state of
 * their pods: only pods without a node are watched, and running pods are never looked at again.
 */
export class ScaleCluster implements AsyncDisposable {
  readonly size: ScaleSize;
  readonly #stage: Stage;
  readonly #etcd: EtcdWriter;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[];
  /** By address, whether a pod is ready, as the last version of its EndpointSlice says. */
  readonly #endpoints = new Map<string, boolean>();
  #nextAddress: number;
  #nextPod = 0;

  private constructor(stage: Stage, etcd: EtcdWriter, size: ScaleSize) {
    this.#stage = stage;
    this.#etcd = etcd;
    this.size = size;
    this.#nextAddress = size.pods;
    const { signal } = this.#stop;
    this.#loops = [this.#renewLeases(signal), this.#startPods(signal), this.#followEndpoints(signal)];
  }

  static async open(stage: Stage, size: ScaleSize): Promise<ScaleCluster> {
    const etcd = new EtcdWriter(stage.cluster.etcdUrl);
    const namespaces = namespaceNames(size).map((name) => ({ metadata: { name } }));
    await stage.createAll(Namespaces, namespaces);
    const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
    await etcd.putAll(numbers(size.nodes), nodeEntry);
    await etcd.putAll(numbers(size.nodes), (node) => leaseEntry(node, systemClock.now()));
    await etcd.putAll(numbers(size.services).flatMap(applicationEntries), (entry) => entry);
    await etcd.putAll(numbers(size.pods), (pod) => podEntry(pod, size));
    return new ScaleCluster(stage, etcd, size);
  }

  /** Every Service has all its pods as ready endpoints. */
  async untilServed(): Promise<void> {
    await this.#until(() => this.#endpoints.size >= this.size.pods && [...this.#endpoints.values()].every(Boolean));
  }

  /** That many pods, each of another Service as far as there are enough, become unready and then ready again. */
  async flipReadiness(count: number): Promise<void> {
    const pods = this.#takePods(count);
    for (const isReady of [false, true]) {
      await this.#etcd.putAll(pods, (pod) => podEntry(pod, this.size, isReady));
      await this.#until(() => pods.every((pod) => this.#endpoints.get(podAddress(pod)) === isReady));
    }
  }

  /** That many pods are gone; others have to take their places. */
  async replacePods(count: number): Promise<void> {
    const pods = this.#takePods(count);
    const first = this.#nextAddress;
    await Promise.all(pods.map((pod) => this.#etcd.delete(podKey(pod))));
    const replacements = Array.from({ length: count }, (_, index) => podAddress(first + index));
    await this.#until(() => replacements.every((address) => this.#endpoints.get(address) === true));
  }

  /** No pod is taken twice. */
  #takePods(count: number): number[] {
    const stride = Math.floor(this.size.pods / count);
    const offset = this.#nextPod++;
    if (offset >= stride) throw new Error('the cluster has not enough pods for so many changes');
    return Array.from({ length: count }, (_, index) => offset + index * stride);
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await Promise.race([systemClock.sleep(lookMs, this.#stage.signal), ...this.#loops]); // a loop ends only by failing
    }
  }

  async #renewLeases(signal: AbortSignal): Promise<void> {
    const { nodes } = this.size;
    const startMs = systemClock.monotonic();
    for (let renewed = 0; !signal.aborted;) {
      const due = Math.floor(((systemClock.monotonic() - startMs) / leaseRenewMs) * nodes);
      const indexes = Array.from({ length: due - renewed }, (_, index) => (renewed + index) % nodes);
      renewed = due;
      await this.#etcd.putAll(indexes, (node) => leaseEntry(node, systemClock.now()));
      await systemClock.sleep(heartbeatStepMs, signal).catch(ignoreAbort);
    }
  }

  async #startPods(signal: AbortSignal): Promise<void> {
    const selected = { fieldSelector: 'spec.nodeName=' };
    const { metadata } = await this.#stage.client.list(Pods, { ...selected, limit: 1 }, signal);
    const { resourceVersion } = metadata;
    await untilAborted(signal, async () => {
      for await (const event of this.#stage.client.watch(Pods, { ...selected, resourceVersion }, signal)) {
        if (event.type !== 'ADDED' || event.object.metadata.ownerReferences === undefined) continue;
        if (!event.object.metadata.namespace?.startsWith('scale-')) continue; // not a pod of this cluster's Services
        const number = this.#nextAddress++;
        await this.#etcd.put(
          ...startedPodEntry(event.object, { address: podAddress(number), node: number % this.size.nodes }),
        );
      }
    });
  }

  async #followEndpoints(signal: AbortSignal): Promise<void> {
    await untilAborted(signal, async () => {
      const { items, metadata } = await this.#stage.client.listAll(EndpointSlices, {}, signal);
      for (const slice of items) this.#observe(slice);
      const { resourceVersion } = metadata;
      for await (const event of this.#stage.client.watch(EndpointSlices, { resourceVersion }, signal)) {
        if (event.type !== 'BOOKMARK') this.#observe(event.object);
      }
    });
  }

  #observe(slice: EndpointSlice): void {
    if (!slice.metadata.namespace?.startsWith('scale-')) return;
    for (const { addresses, conditions } of slice.endpoints ?? []) {
      for (const address of addresses) this.#endpoints.set(address, conditions?.ready === true);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
    this.#etcd[Symbol.dispose]();
  }
}

const lookMs = 20;

async function untilAborted(signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!signal.aborted) throw error;
    return;
  }
  throw new Error('a watch of the simulated nodes has ended');
}

function ignoreAbort(): void {}
