import {
  compileSelector,
  isBeingDeleted,
  keyOf,
  type Cached,
  type LabelSelector,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import {
  attributesClassOf,
  classOfClaim,
  classOfVolume,
  isReservedFor,
  keyOfReference,
  modeOf,
  requestOf,
  sizeOf,
  type Claim,
  type MatchOptions,
  type Volume,
} from '../../pkg/volumes/index.ts';
import { SizeOrder } from './size-order.ts';

const accessModes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];

/** Every set of access modes, as bits. Fewer modes first: a claim gets no volume with more modes than needed. */
const modeSets = Array.from({ length: 2 ** accessModes.length }, (_, bits) => bits).sort(
  (a, b) => countBits(a) - countBits(b) || a - b,
);

interface Entry {
  readonly volume: Volume;
  readonly size: bigint;
  readonly modes: number;
  /** Empty unless the volume is free. */
  readonly buckets: readonly string[];
}

/**
 * Volumes by what claims ask for. Free volumes are in buckets of the same class, access modes, volume mode and attributes
 * class, ordered by size, and again in one bucket for each of their labels. So a search costs the logarithm of the number
 * of volumes, and with a selector no more than the volumes that have the rarest of its labels. Only a selector without
 * any `=` or `In` looks through a whole bucket.
 */
export class VolumeIndex {
  readonly #options: MatchOptions;
  readonly #entries = new Map<ObjectKey, Entry>();
  readonly #buckets = new Map<string, SizeOrder>();
  readonly #byClaim = new Map<ObjectKey, Set<ObjectKey>>();

  constructor(options: MatchOptions) {
    this.#options = options;
  }

  /** The volume as it is now; undefined if it is gone. */
  set(key: ObjectKey, volume: Volume | undefined): void {
    const before = this.#entries.get(key);
    if (before?.volume === volume) return;
    if (before !== undefined) this.#remove(key, before);
    if (volume !== undefined) this.#add(key, volume);
  }

  /** The volumes that are reserved for a claim of this name, or were bound to one. */
  volumesFor(claim: ObjectKey): ReadonlySet<ObjectKey> {
    return this.#byClaim.get(claim) ?? new Set();
  }

  /**
   * The volume for a claim. Within the same access modes, one that is reserved for the claim comes first, then the smallest
   * one that is large enough. A delayed claim gets a reserved one only.
   */
  find(claim: Claim, options: { readonly isDelayed: boolean; isTaken(key: ObjectKey): boolean }): Volume | undefined {
    if (!this.#options.attributesClasses && attributesClassOf(claim) !== '') {
      throw new UnsupportedClassError(
        `unsupported volumeAttributesClassName is set on claim ${keyOf(claim)} when the feature-gate VolumeAttributesClass is disabled`,
      );
    }
    const wanted = bitsOf(claim.spec.accessModes);
    for (const modes of modeSets) {
      if ((modes & wanted) !== wanted) continue;
      const found =
        this.#findReserved(claim, modes) ??
        (options.isDelayed ? undefined : this.#findFree(claim, modes, options.isTaken));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #findReserved(claim: Claim, modes: number): Volume | undefined {
    const minimum = requestOf(claim);
    for (const key of this.volumesFor(keyOf(claim))) {
      const entry = this.#entries.get(key);
      if (entry === undefined || entry.modes !== modes || entry.size < minimum) continue;
      const { volume } = entry;
      const fits = modeOf(volume) === modeOf(claim) && attributesClassOf(volume) === attributesClassOf(claim);
      if (fits && isReservedFor(volume, claim) && !isBeingDeleted(volume.metadata)) return volume;
    }
    return undefined;
  }

  #findFree(claim: Claim, modes: number, isTaken: (key: ObjectKey) => boolean): Volume | undefined {
    const { selector } = claim.spec;
    const base = bucketOf(classOfClaim(claim), modes, claim);
    const matches = selector === undefined ? undefined : compileSelector(selector);
    const isFit = (key: ObjectKey): boolean =>
      !isTaken(key) && (matches === undefined || matches(this.#entries.get(key)?.volume.metadata.labels));
    let best: Entry | undefined;
    for (const order of this.#fewest(base, selector)) {
      const key = order.smallest(requestOf(claim), isFit);
      const entry = key && this.#entries.get(key);
      if (entry !== undefined && (best === undefined || entry.size < best.size)) best = entry;
    }
    return best?.volume;
  }

  /** The buckets with the fewest volumes that hold every volume which a selector may match. */
  #fewest(base: string, selector: Cached<LabelSelector> | undefined): SizeOrder[] {
    const choices = selector === undefined ? [] : labelBuckets(base, selector);
    let fewest: SizeOrder[] | undefined;
    let count = 0;
    for (const names of choices.length === 0 ? [[base]] : choices) {
      const orders = names.map((name) => this.#buckets.get(name)).filter((order) => order !== undefined);
      if (orders.length === 0) return []; // no volume has this label
      const total = orders.reduce((sum, { count: each }) => sum + each, 0);
      if (fewest === undefined || total < count) [fewest, count] = [orders, total];
    }
    return fewest ?? [];
  }

  #add(key: ObjectKey, volume: Volume): void {
    const modes = bitsOf(volume.spec.accessModes);
    const size = sizeOf(volume.spec.capacity);
    const isUsable = this.#options.attributesClasses || attributesClassOf(volume) === '';
    const buckets = isFree(volume) && isUsable ? bucketsOf(volume, modes) : [];
    this.#entries.set(key, { volume, size, modes, buckets });
    for (const bucket of buckets) getOrMake(this.#buckets, bucket, () => new SizeOrder()).add(key, size);
    const { claimRef } = volume.spec;
    if (claimRef !== undefined) getOrMake(this.#byClaim, keyOfReference(claimRef), () => new Set()).add(key);
  }

  #remove(key: ObjectKey, { volume, size, buckets }: Entry): void {
    this.#entries.delete(key);
    for (const bucket of buckets) {
      const order = this.#buckets.get(bucket);
      order?.delete(key, size);
      if (order?.count === 0) this.#buckets.delete(bucket);
    }
    const { claimRef } = volume.spec;
    if (claimRef === undefined) return;
    const owner = keyOfReference(claimRef);
    const others = this.#byClaim.get(owner);
    others?.delete(key);
    if (others?.size === 0) this.#byClaim.delete(owner);
  }
}

/** The gate VolumeAttributesClass is off. */
export class UnsupportedClassError extends Error {
  override readonly name = 'UnsupportedClassError';
  readonly reason = 'UnsupportedClass';
}

/** A volume in another phase is about to change: to bind it now would likely end in a conflict. */
function isFree({ metadata, spec, status }: Volume): boolean {
  return spec.claimRef === undefined && status?.phase === 'Available' && !isBeingDeleted(metadata);
}

function bucketsOf(volume: Volume, modes: number): string[] {
  const base = bucketOf(classOfVolume(volume), modes, volume);
  return [base, ...Object.entries(volume.metadata.labels ?? {}).map(([name, value]) => labelBucket(base, name, value))];
}

// NUL separates: no name contains it.
function bucketOf(className: string, modes: number, object: Claim | Volume): string {
  return `${className}\0${modes}\0${modeOf(object)}\0${attributesClassOf(object)}`;
}

function labelBucket(base: string, name: string, value: string): string {
  return `${base}\0${name}\0${value}`;
}

/**
 * The buckets of each label and each `In` of a selector. Each of these lists holds every volume that the selector may
 * match.
 */
function labelBuckets(base: string, { matchLabels, matchExpressions }: Cached<LabelSelector>): string[][] {
  const equal = Object.entries(matchLabels ?? {}).map((label) => [labelBucket(base, ...label)]);
  const listed = (matchExpressions ?? []).filter(({ operator }) => operator === 'In');
  return [
    ...equal,
    ...listed.map(({ key, values }) => [...new Set(values)].map((value) => labelBucket(base, key, value))),
  ];
}

function bitsOf(modes: readonly string[] | null | undefined): number {
  return accessModes.reduce(
    (bits, mode, position) => (modes?.includes(mode) === true ? bits | (1 << position) : bits),
    0,
  );
}

function countBits(bits: number): number {
  return accessModes.filter((_, position) => (bits & (1 << position)) !== 0).length;
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
