import { keyOf, parseTime, type Cached, type ObjectKey, type Pod, type Service } from '../api/index.ts';
import { readyCondition } from '../pods/index.ts';

interface Seen {
  readonly service: string;
  /** When each pod, by name, last became ready or ceased to be. */
  readonly pods: ReadonlyMap<string, string>;
}

/**
 * Finds out which change a write answers to, for the annotation by which the delay until proxies know of it is
 * measured: the earliest of those since the last sync. The first sync of a Service answers to its creation.
 */
export class TriggerTimes {
  readonly #seen = new Map<ObjectKey, Seen>();

  /** To be called once a sync, also when nothing is written. Undefined: no change with a known time. */
  next(service: Cached<Service>, pods: readonly Cached<Pod>[]): string | undefined {
    const key = keyOf(service);
    const before = this.#seen.get(key);
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
    this.#seen.set(key, { service: created, pods: times });
    if (before === undefined) return created;
    consider(created, before.service);
    return earliest;
  }

  forget(service: ObjectKey): void {
    this.#seen.delete(service);
  }
}

/** An absent time is before every other. */
function msOf(time: string | undefined): number {
  return parseTime(time) ?? -Infinity;
}
