import { splitKey } from '../../pkg/api/index.ts';
import { defineGauge, type MetricsRegistry } from '../../pkg/metrics/index.ts';
import type { Conflict } from './conflicts.ts';

/** Shows every conflict as a series. Two pods may have the same one about several volumes. */
export class ConflictMetrics {
  readonly #gauge;
  readonly #counts = new Map<string, number>();

  constructor(registry: MetricsRegistry) {
    this.#gauge = defineGauge(registry, {
      name: 'selinux_warning_controller_selinux_volume_conflict',
      help: 'Conflicts between two pods that use the same volume',
      labels: ['property', 'pod1_namespace', 'pod1_name', 'pod1_value', 'pod2_namespace', 'pod2_name', 'pod2_value'],
    });
    this.#gauge.clear(); // left by an earlier lead of this process
  }

  changed(ended: readonly Conflict[], begun: readonly Conflict[]): void {
    for (const conflict of begun) this.#count(conflict, 1);
    for (const conflict of ended) this.#count(conflict, -1);
  }

  #count(conflict: Conflict, change: 1 | -1): void {
    const id = JSON.stringify(conflict);
    const count = (this.#counts.get(id) ?? 0) + change;
    const labels = labelsOf(conflict);
    if (count > 0) {
      this.#counts.set(id, count);
      this.#gauge.with(labels).set(1);
    } else {
      this.#counts.delete(id);
      this.#gauge.remove(labels);
    }
  }
}

function labelsOf({ property, pod, value, otherPod, otherValue }: Conflict) {
  const [own, other] = [splitKey(pod), splitKey(otherPod)];
  return {
    property,
    pod1_namespace: own.namespace ?? '',
    pod1_name: own.name,
    pod1_value: value,
    pod2_namespace: other.namespace ?? '',
    pod2_name: other.name,
    pod2_value: otherValue,
  };
}
