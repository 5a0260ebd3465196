import {
  compareResourceVersions,
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type Kind,
  type KubeObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type VolumeAttachment,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';
import { seededRandom } from './random.ts';

const namespace = 'default';
const manual = 'manual';

/** Creates and deletes claims, volumes and pods at random. No name is used twice. */
export class RandomVolumes {
  readonly #client: Client;
  readonly #random: () => number;
  readonly #signal: AbortSignal;
  readonly #claims: string[] = [];
  readonly #pods: string[] = [];
  readonly #volumes: string[] = [];
  #count = 0;

  constructor(client: Client, seed: number, signal: AbortSignal) {
    this.#client = client;
    this.#random = seededRandom(seed);
    this.#signal = signal;
  }

  async run(users: number, actions: number): Promise<void> {
    let left = actions;
    const work = async (): Promise<void> => {
      while (left-- > 0) await this.#act();
    };
    await Promise.all(Array.from({ length: users }, work));
  }

  /** Deletes all pods and claims. */
  async end(): Promise<void> {
    while (this.#pods.length > 0) await this.#delete(Pods, this.#pods);
    while (this.#claims.length > 0) await this.#delete(PersistentVolumeClaims, this.#claims);
  }

  async #act(): Promise<void> {
    const actions = [
      () => this.#createClaim(undefined),
      () => this.#createClaim(manual),
      () => this.#createVolume(),
      () => this.#createPod(),
      () => this.#createPod(),
      () => this.#delete(Pods, this.#pods),
      () => this.#delete(PersistentVolumeClaims, this.#claims),
      () => this.#free(),
    ];
    await this.#pick(actions)?.();
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  async #createClaim(storageClassName: string | undefined): Promise<void> {
    const name = `claim-${this.#count++}`;
    const storage = `${1 + Math.floor(this.#random() * 3)}Gi`;
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, storageClassName };
    await this.#client.create(PersistentVolumeClaims, { metadata: { namespace, name }, spec }, this.#signal);
    this.#claims.push(name);
  }

  async #createVolume(): Promise<void> {
    const name = `volume-${this.#count++}`;
    const capacity = { storage: `${1 + Math.floor(this.#random() * 4)}Gi` };
    const spec = {
      accessModes: ['ReadWriteOnce'],
      capacity,
      storageClassName: manual,
      hostPath: { path: `/tmp/${name}` },
    };
    await this.#client.create(PersistentVolumes, { metadata: { name }, spec }, this.#signal);
    this.#volumes.push(name);
  }

  async #createPod(): Promise<void> {
    const claimName = this.#pick(this.#claims);
    if (claimName === undefined) return;
    const name = `pod-${this.#count++}`;
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }];
    const spec = { containers: [{ name: 'app', image: 'example' }], volumes, terminationGracePeriodSeconds: 0 };
    await this.#client.create(Pods, { metadata: { namespace, name }, spec }, this.#signal);
    this.#pods.push(name);
  }

  async #delete(kind: Kind, names: string[]): Promise<void> {
    const [name] = names.splice(Math.floor(this.#random() * names.length), 1);
    if (name === undefined) return;
    await ifThere(this.#client.delete(kind, objectKey(namespace, name), {}, this.#signal));
  }

  /** An administrator makes a released volume available again. */
  async #free(): Promise<void> {
    const name = this.#pick(this.#volumes);
    if (name === undefined) return;
    const volume = await this.#client.get(PersistentVolumes, objectKey(undefined, name), this.#signal);
    if (volume.status?.phase !== 'Released') return;
    const { resourceVersion } = volume.metadata; // not if the binder has changed it
    const body = { metadata: { resourceVersion }, spec: { claimRef: null } };
    await ifThere(this.#client.patch(PersistentVolumes, keyOf(volume), { type: 'merge', body }, this.#signal));
  }
}

async function ifThere(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** An object, and between which versions of the cluster it was there. */
interface Life<T> {
  object: T;
  readonly from: string;
  to?: string;
  /** The first version of a pod that runs, or of an attachment that is attached. */
  activeFrom?: string;
}

/** Follows claims, volumes, pods and attachments from their start to their end, and finds what must never be. */
export class VolumeHistory {
  readonly problems: string[] = [];
  readonly #claims = new Map<string, Life<PersistentVolumeClaim>>();
  readonly #volumes = new Map<string, Life<PersistentVolume>>();
  readonly #pods = new Map<string, Life<Pod>>();
  readonly #attachments = new Map<string, Life<VolumeAttachment>>();
  /** The claims that were bound to each volume, by uid. */
  readonly #boundTo = new Map<string, Set<string>>();
  /** When volumes lost their claim: by their deletion or because they were released. */
  readonly #released: { readonly volume: string; readonly claim: string; readonly at: string }[] = [];

  follow(client: Client, signal: AbortSignal): Promise<unknown> {
    return Promise.all([
      this.#watch(client, PersistentVolumeClaims, this.#claims, signal, (claim) => this.#checkClaim(claim)),
      this.#watch(client, PersistentVolumes, this.#volumes, signal, (volume) => this.#checkVolume(volume)),
      this.#watch(client, Pods, this.#pods, signal, (pod) => {
        if (pod.status?.phase === 'Running') activate(this.#pods, pod);
      }),
      this.#watch(client, VolumeAttachments, this.#attachments, signal, (attachment) => {
        if (attachment.status?.attached === true) activate(this.#attachments, attachment);
      }),
    ]);
  }

  get counts(): { readonly attached: number; readonly bound: number; readonly released: number } {
    return {
      attached: [...this.#attachments.values()].filter(({ activeFrom }) => activeFrom !== undefined).length,
      bound: [...this.#boundTo.values()].reduce((sum, { size }) => sum + size, 0),
      released: this.#released.length,
    };
  }

  /** What can be said only when all is over: versions of several kinds are compared. */
  judge(): string[] {
    for (const { volume, claim, at } of this.#released) {
      const end = this.#claims.get(claim)?.to;
      if (end === undefined || isBefore(at, end))
        this.problems.push(`${volume} was reclaimed before its claim was gone`);
    }
    for (const { object: claim, to } of this.#claims.values()) {
      for (const pod of this.#pods.values()) {
        if (to === undefined || !uses(pod.object, claim) || pod.activeFrom === undefined) continue;
        const isThere = isBefore(pod.activeFrom, to) && (pod.to === undefined || isBefore(to, pod.to));
        if (isThere) this.problems.push(`${claim.metadata.name} went before its pod ${pod.object.metadata.name}`);
      }
    }
    const attached = [...this.#attachments.values()].filter(({ activeFrom }) => activeFrom !== undefined);
    for (const lives of Map.groupBy(attached, ({ object }) => object.spec.source.persistentVolumeName).values()) {
      this.#judgeAttachments(lives);
    }
    return this.problems;
  }

  /** All volumes are for one node at a time. */
  #judgeAttachments(lives: readonly Life<VolumeAttachment>[]): void {
    const inOrder = lives.toSorted((a, b) => compareResourceVersions(a.activeFrom ?? '', b.activeFrom ?? ''));
    for (const [index, { activeFrom = '', object }] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (before === undefined || (before.to !== undefined && isBefore(before.to, activeFrom))) continue;
      const nodes = `${before.object.spec.nodeName} and ${object.spec.nodeName}`;
      this.problems.push(`${object.spec.source.persistentVolumeName} was attached to ${nodes} at once`);
    }
  }

  async #watch<T extends KubeObject>(
    client: Client,
    kind: Kind<T>,
    lives: Map<string, Life<T>>,
    signal: AbortSignal,
    check: (object: T) => void,
  ): Promise<void> {
    try {
      for await (const event of client.watch(kind, {}, signal)) {
        if (event.type === 'BOOKMARK') continue;
        const { uid, resourceVersion } = event.object.metadata;
        const life = lives.get(uid) ?? { object: event.object, from: resourceVersion };
        lives.set(uid, Object.assign(life, { object: event.object }));
        if (event.type === 'DELETED') life.to = resourceVersion;
        check(event.object);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #checkClaim({ metadata, spec, status }: PersistentVolumeClaim): void {
    const { volumeName = '' } = spec;
    if (status?.phase === 'Lost') this.problems.push(`${metadata.name} is lost`);
    if (volumeName === '') return;
    const owners = this.#boundTo.get(volumeName) ?? new Set();
    this.#boundTo.set(volumeName, owners.add(metadata.uid));
    const others = [...owners].filter((uid) => uid !== metadata.uid && this.#claims.get(uid)?.to === undefined);
    if (others.length > 0) this.problems.push(`${volumeName} has two claims: ${metadata.name} and ${others.join()}`);
  }

  #checkVolume({ metadata, spec, status }: PersistentVolume): void {
    const claim = spec.claimRef?.uid ?? '';
    const isGone = this.#volumes.get(metadata.uid)?.to !== undefined;
    if (claim !== '' && (status?.phase === 'Released' || isGone)) {
      this.#released.push({ volume: metadata.name, claim, at: metadata.resourceVersion });
    }
  }
}

const isBefore = (a: string, b: string): boolean => compareResourceVersions(a, b) < 0;

function activate<T extends KubeObject>(lives: ReadonlyMap<string, Life<T>>, { metadata }: T): void {
  const life = lives.get(metadata.uid);
  if (life !== undefined) life.activeFrom ??= metadata.resourceVersion;
}

function uses({ spec }: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata.name);
}
