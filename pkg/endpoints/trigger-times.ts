import { keyOf, parseTime, type Cached, type ObjectKey, type Pod, type Service } from '../api/index.ts';
import { readyCondition } from '../pods/index.ts';

interface Observed {
  /** The creation time of the Service. */
  readonly service: string;
  /** The last transition of each pod's Ready condition, by pod name. */
  readonly pods: ReadonlyMap<string, string>;
}

/**
 * The time of the change that triggered a write, for the annotation that measures the programming latency of proxies:
 * the earliest change since the last sync. For the first sync of a Service it is the creation of the Service.
 */
export class TriggerTimes {
  readonly #observed = new Map<ObjectKey, Observed>();

  /** Call it once per sync, also if nothing is written. Returns undefined if no change has a known time. */
  next(service: Cached<Service>, pods: readonly Cached<Pod>[]): string | undefined {
    const key = keyOf(service);
    const before = this.#observed.get(key);
    const created = service.metadata.creationTimestamp;
    const times = new Map<string, string>();
    let earliest: string | undefined;
    const consider = (time: string, last: string | undefined): void => {
      if (time === last || msOf(time) <= msOf(last)) return;
      if (earliest === undefined || msOf(time) < msOf(earliest)) earliest = time;
    };
    for (const pod of pods) {
      const time = readyCondition(pod)?.lastTransitionTime;
      if (time === undefined || time === null) continue;
      times.set(pod.metadata.name, time);
      if (before !== undefined) consider(time, before.pods.get(pod.metadata.name));
    }
    this.#observed.set(key, { service: created, pods: times });
    if (before === undefined) return created;
    consider(created, before.service);
    return earliest;
  }

  forget(service: ObjectKey): void {
    this.#observed.delete(service);
  }
}

/** An absent time is earlier than every other time. */
function msOf(time: string | undefined): number {
  return parseTime(time) ?? -Infinity;
}
