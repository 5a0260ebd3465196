import type { ObjectKey } from '../../pkg/api/index.ts';
import type { Gauge, LabelledMetric } from '../../pkg/metrics/index.ts';

type InUse = LabelledMetric<'node' | 'volume_plugin', Gauge>;

/** Counts the volumes of pods by node and plugin. A count of none has no series, as in Go. */
export class VolumeCounts {
  readonly #metric: InUse;
  readonly #pods = new Map<ObjectKey, { readonly nodeName: string; readonly plugins: readonly string[] }>();

  constructor(metric: InUse) {
    this.#metric = metric;
    metric.clear(); // left by an earlier lead of this process
  }

  set(pod: ObjectKey, nodeName: string, plugins: readonly string[]): void {
    this.remove(pod);
    if (nodeName === '' || plugins.length === 0) return;
    this.#pods.set(pod, { nodeName, plugins });
    for (const plugin of plugins) this.#metric.with({ node: nodeName, volume_plugin: plugin }).inc();
  }

  remove(pod: ObjectKey): void {
    const known = this.#pods.get(pod);
    if (known === undefined) return;
    this.#pods.delete(pod);
    for (const plugin of known.plugins) {
      const labels = { node: known.nodeName, volume_plugin: plugin };
      const gauge = this.#metric.with(labels);
      gauge.dec();
      if (gauge.value === 0) this.#metric.remove(labels);
    }
  }
}

type Total = LabelledMetric<'plugin_name' | 'state', Gauge>;
export interface Counted {
  readonly plugin: string;
  readonly desired: number;
  readonly actual: number;
}

/** Counts volumes on nodes, in the desired and in the actual state. */
export class TotalCounts {
  readonly #metric: Total;
  readonly #volumes = new Map<string, Counted>();

  constructor(metric: Total) {
    this.#metric = metric;
    metric.clear();
  }

  /** `counted` is undefined if only the name of the volume is known. */
  set(volumeName: string, counted: Counted | undefined): void {
    const before = this.#volumes.get(volumeName);
    if (before !== undefined) this.#add(before, -1);
    if (counted === undefined || counted.desired + counted.actual === 0) {
      this.#volumes.delete(volumeName);
      return;
    }
    this.#volumes.set(volumeName, counted);
    this.#add(counted, 1);
  }

  #add({ plugin, desired, actual }: Counted, sign: 1 | -1): void {
    for (const [state, count] of [
      ['desired_state_of_world', desired],
      ['actual_state_of_world', actual],
    ] as const) {
      if (count === 0) continue;
      const labels = { plugin_name: plugin, state };
      const gauge = this.#metric.with(labels);
      gauge.inc(sign * count);
      if (gauge.value === 0) this.#metric.remove(labels);
    }
  }
}
