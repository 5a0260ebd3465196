import type { AttachableVolume } from '../../pkg/volumes/index.ts';

/** A volume on a node. */
export interface Attachment {
  /** `uncertain`: an attach or a detach failed, or was under way when another process had the lease. */
  state: 'attached' | 'uncertain';
  /** Whether the status of the node says so. The kubelet mounts only what it reads there. */
  report: 'wanted' | 'withdrawn' | 'absent';
  /** Since when no pod on the node needs the volume. */
  unneededSinceMs?: number | undefined;
}

/** An attach or detach that an external attacher works on, or that waits for its next try. */
export interface Operation {
  readonly kind: 'attach' | 'detach';
  readonly phase: 'running' | 'failed';
  /** When it started, or failed. */
  readonly sinceMs: number;
  /** After a failure: how long the same is not tried again. */
  readonly delayMs: number;
}

interface KnownVolume {
  /** Undefined if the volume is known from the status of a node alone. */
  volume: AttachableVolume | undefined;
  devicePath: string;
  readonly nodes: Map<string, Attachment>;
  readonly operations: Map<string, Operation>;
}

export interface ReportedVolume {
  readonly name: string;
  readonly devicePath: string;
}

const firstDelayMs = 500;
/** As in Go, whose odd number tells this delay from timeouts. */
const longestDelayMs = 122_000;

/** Which volumes are attached to which nodes, as far as this process knows. */
export class ActualState {
  readonly #volumes = new Map<string, KnownVolume>();
  readonly #byNode = new Map<string, Set<string>>();
  /** Nodes whose status this process has a say in. */
  readonly #reporting = new Set<string>();

  /** Undefined if nothing is known of the volume. */
  volume(volumeName: string): unknown {
    return this.#volumes.get(volumeName);
  }

  attachmentsOf(volumeName: string): ReadonlyMap<string, Attachment> {
    return this.#volumes.get(volumeName)?.nodes ?? new Map<string, Attachment>();
  }

  operationsOf(volumeName: string): ReadonlyMap<string, Operation> {
    return this.#volumes.get(volumeName)?.operations ?? new Map<string, Operation>();
  }

  volumeOf(volumeName: string): AttachableVolume | undefined {
    return this.#volumes.get(volumeName)?.volume;
  }

  volumesOn(nodeName: string): ReadonlySet<string> {
    return this.#byNode.get(nodeName) ?? new Set<string>();
  }

  /** Every volume on every node. */
  *all(): Iterable<{ readonly volumeName: string; readonly nodeName: string; readonly attachment: Attachment }> {
    for (const [volumeName, { nodes }] of this.#volumes) {
      for (const [nodeName, attachment] of nodes) yield { volumeName, nodeName, attachment };
    }
  }

  /** What the status of a node should have; undefined if that is left to others. */
  reportOf(nodeName: string): ReportedVolume[] | undefined {
    if (!this.#reporting.has(nodeName)) return undefined;
    const names = [...this.volumesOn(nodeName)].sort();
    return names
      .filter((name) => this.attachmentsOf(name).get(nodeName)?.report === 'wanted')
      .map((name) => ({ name, devicePath: this.#volumes.get(name)?.devicePath ?? '' }));
  }

  markAttached(volumeName: string, nodeName: string, known: { volume?: AttachableVolume; devicePath?: string }): void {
    const { devicePath = '', volume } = known;
    const attachment = this.#mark(volumeName, nodeName, 'attached', volume);
    attachment.report = 'wanted';
    this.#reporting.add(nodeName);
    this.#knownVolume(volumeName).devicePath = devicePath;
  }

  /** What a volume is that was known by its name. */
  learn(volume: AttachableVolume): void {
    const known = this.#volumes.get(volume.uniqueName);
    if (known !== undefined) known.volume ??= volume;
  }

  markUncertain(volumeName: string, nodeName: string, volume: AttachableVolume | undefined): void {
    this.#mark(volumeName, nodeName, 'uncertain', volume);
  }

  markDetached(volumeName: string, nodeName: string): void {
    this.#volumes.get(volumeName)?.nodes.delete(nodeName);
    this.#dropIfUnused(volumeName);
    const onNode = this.#byNode.get(nodeName);
    onNode?.delete(volumeName);
    if (onNode?.size === 0) this.#byNode.delete(nodeName);
  }

  start(volumeName: string, nodeName: string, kind: Operation['kind'], nowMs: number): void {
    const { operations } = this.#knownVolume(volumeName);
    const before = operations.get(nodeName);
    const delayMs = before?.kind === kind ? before.delayMs : 0;
    operations.set(nodeName, { kind, phase: 'running', sinceMs: nowMs, delayMs });
  }

  fail(volumeName: string, nodeName: string, nowMs: number): void {
    const { operations } = this.#knownVolume(volumeName);
    const before = operations.get(nodeName);
    if (before === undefined) return;
    const delayMs = before.delayMs === 0 ? firstDelayMs : Math.min(2 * before.delayMs, longestDelayMs);
    operations.set(nodeName, { ...before, phase: 'failed', sinceMs: nowMs, delayMs });
  }

  finish(volumeName: string, nodeName: string): void {
    this.#volumes.get(volumeName)?.operations.delete(nodeName);
    this.#dropIfUnused(volumeName);
  }

  /** The status of the node was written, or there is none. Returns the volumes that were waiting for this. */
  withdraw(nodeName: string, withdrawn: Iterable<string>): string[] {
    return [...withdrawn].filter((volumeName) => {
      const attachment = this.attachmentsOf(volumeName).get(nodeName);
      if (attachment?.report !== 'withdrawn') return false; // a pod needs it again
      attachment.report = 'absent';
      return true;
    });
  }

  withdrawnOn(nodeName: string): string[] {
    return [...this.volumesOn(nodeName)].filter(
      (name) => this.attachmentsOf(name).get(nodeName)?.report === 'withdrawn',
    );
  }

  /** The node is gone: one of its name that comes later starts anew. */
  forgetNode(nodeName: string): void {
    this.#reporting.delete(nodeName);
  }

  #mark(volumeName: string, nodeName: string, state: Attachment['state'], volume?: AttachableVolume): Attachment {
    const known = this.#knownVolume(volumeName);
    known.volume = volume ?? known.volume;
    const attachment = known.nodes.get(nodeName) ?? { state, report: 'absent' };
    attachment.state = state;
    known.nodes.set(nodeName, attachment);
    const onNode = this.#byNode.get(nodeName) ?? new Set();
    this.#byNode.set(nodeName, onNode.add(volumeName));
    return attachment;
  }

  #knownVolume(volumeName: string): KnownVolume {
    let known = this.#volumes.get(volumeName);
    if (known === undefined) {
      known = { volume: undefined, devicePath: '', nodes: new Map(), operations: new Map() };
      this.#volumes.set(volumeName, known);
    }
    return known;
  }

  #dropIfUnused(volumeName: string): void {
    const known = this.#volumes.get(volumeName);
    if (known?.nodes.size === 0 && known.operations.size === 0) this.#volumes.delete(volumeName);
  }
}
