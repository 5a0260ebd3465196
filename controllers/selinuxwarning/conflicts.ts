import { splitKey, type ObjectKey } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { areConflicting, type VolumeLabel } from './labels.ts';

/** Two pods that cannot use a volume on the same node together. */
export interface Conflict {
  readonly property: 'SELinuxChangePolicy' | 'SELinuxLabel';
  readonly pod: ObjectKey;
  readonly value: string;
  readonly otherPod: ObjectKey;
  readonly otherValue: string;
}

interface UsedVolume {
  readonly driver: string | undefined;
  readonly pods: Map<ObjectKey, VolumeLabel>;
  conflicts: Conflict[];
}

/** The volumes of all pods, and the conflicts about them. `onChange` gets the conflicts that begin and end. */
export class VolumeUse {
  readonly #volumes = new Map<string, UsedVolume>();
  readonly #byPod = new Map<ObjectKey, Set<string>>();
  readonly #byDriver = new Map<string, Set<string>>();
  readonly #onChange: (ended: readonly Conflict[], begun: readonly Conflict[]) => void;

  constructor(onChange: (ended: readonly Conflict[], begun: readonly Conflict[]) => void) {
    this.#onChange = onChange;
  }

  /** Returns the conflicts of the pod about this volume, once for each of the two pods, if its label is new. */
  add(volumeName: string, driver: string | undefined, pod: ObjectKey, label: VolumeLabel): Conflict[] {
    const volume = this.#volumeOf(volumeName, driver);
    const known = volume.pods.get(pod);
    if (known?.label === label.label && known.changePolicy === label.changePolicy) return [];
    volume.pods.set(pod, label);
    this.#byPod.set(pod, (this.#byPod.get(pod) ?? new Set()).add(volumeName));
    const begun = [...volume.pods].flatMap(([otherPod, other]) => findConflicts({ pod, label, otherPod, other }));
    this.#replace(volume, pod, begun);
    return begun;
  }

  /** The pod is gone, or does not use its volumes any more. */
  remove(pod: ObjectKey): void {
    for (const volumeName of this.#byPod.get(pod) ?? []) {
      const volume = this.#volumes.get(volumeName);
      if (volume === undefined) continue;
      this.#replace(volume, pod, []);
      volume.pods.delete(pod);
      if (volume.pods.size === 0) this.#drop(volumeName, volume);
    }
    this.#byPod.delete(pod);
  }

  podsOfDriver(driver: string): ObjectKey[] {
    const volumes = [...(this.#byDriver.get(driver) ?? [])];
    return volumes.flatMap((volumeName) => [...(this.#volumes.get(volumeName)?.pods.keys() ?? [])]);
  }

  #volumeOf(volumeName: string, driver: string | undefined): UsedVolume {
    let volume = this.#volumes.get(volumeName);
    if (volume === undefined) {
      volume = { driver, pods: new Map(), conflicts: [] };
      this.#volumes.set(volumeName, volume);
      if (driver !== undefined) this.#byDriver.set(driver, (this.#byDriver.get(driver) ?? new Set()).add(volumeName));
    }
    return volume;
  }

  #drop(volumeName: string, { driver }: UsedVolume): void {
    this.#volumes.delete(volumeName);
    const ofDriver = driver === undefined ? undefined : this.#byDriver.get(driver);
    ofDriver?.delete(volumeName);
    if (driver !== undefined && ofDriver?.size === 0) this.#byDriver.delete(driver);
  }

  #replace(volume: UsedVolume, pod: ObjectKey, begun: readonly Conflict[]): void {
    const concerns = (conflict: Conflict): boolean => conflict.pod === pod || conflict.otherPod === pod;
    const ended = volume.conflicts.filter(concerns);
    volume.conflicts = [...volume.conflicts.filter((conflict) => !concerns(conflict)), ...begun];
    if (ended.length + begun.length > 0) this.#onChange(ended, begun);
  }
}

interface Pair {
  readonly pod: ObjectKey;
  readonly label: VolumeLabel;
  readonly otherPod: ObjectKey;
  readonly other: VolumeLabel;
}

function findConflicts({ pod, label, otherPod, other }: Pair): Conflict[] {
  const both = (property: Conflict['property'], value: string, otherValue: string): Conflict[] => [
    { property, pod, value, otherPod, otherValue },
    { property, pod: otherPod, value: otherValue, otherPod: pod, otherValue: value },
  ];
  return [
    ...(label.changePolicy === other.changePolicy
      ? []
      : both('SELinuxChangePolicy', label.changePolicy, other.changePolicy)),
    ...(areConflicting(label.label, other.label) ? both('SELinuxLabel', label.label, other.label) : []),
  ];
}

const consequence = 'If both pods land on the same node, only one of them may access the volume.';

/** For the first pod of a conflict. It names no pod of another namespace. */
export function conflictEvent({ property, pod, value, otherPod, otherValue }: Conflict): NewEvent {
  const [own, other] = [splitKey(pod), splitKey(otherPod)];
  const message =
    own.namespace === other.namespace
      ? `${property} "${value}" conflicts with pod ${other.name} that uses the same volume as this pod with ${property} "${otherValue}". ${consequence}`
      : `${property}"${value}" conflicts with another pod that uses the same volume as this pod with a different ${property}. ${consequence}`;
  return { type: 'Normal', reason: `${property}Conflict`, message };
}
