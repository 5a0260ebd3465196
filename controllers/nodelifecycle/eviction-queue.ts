import { TokenBucket } from '../../pkg/time/index.ts';

/**
 * The nodes of each zone that wait to be tainted, first come first served, and how many a second may be. A node waits
 * in one zone at most.
 */
export class EvictionQueue {
  readonly #zones = new Map<string, Zone>();
  readonly #zoneOfNode = new Map<string, string>();

  hasZone(zone: string): boolean {
    return this.#zones.has(zone);
  }

  addZone(zone: string, rate: number): void {
    this.#zones.set(zone, { rate, bucket: bucketOf(rate), waiting: new Set() });
  }

  removeZone(zone: string): void {
    for (const node of this.#zones.get(zone)?.waiting ?? []) this.#zoneOfNode.delete(node);
    this.#zones.delete(zone);
  }

  /** A zone that was used up, or at rest, has to wait for its first token at the new rate too. */
  setRate(zone: string, rate: number, nowMs: number): void {
    const known = this.#zones.get(zone);
    if (known === undefined || known.rate === rate) return;
    const hadToken = known.bucket?.tryTake(nowMs) === true;
    known.rate = rate;
    known.bucket = bucketOf(rate);
    if (!hadToken) known.bucket?.tryTake(nowMs);
  }

  add(zone: string, node: string): void {
    if (this.#zoneOfNode.get(node) === zone) return;
    this.remove(node);
    const known = this.#zones.get(zone);
    if (known === undefined) return;
    known.waiting.add(node);
    this.#zoneOfNode.set(node, zone);
  }

  remove(node: string): void {
    const zone = this.#zoneOfNode.get(node);
    if (zone === undefined) return;
    this.#zones.get(zone)?.waiting.delete(node);
    this.#zoneOfNode.delete(node);
  }

  /** Zones in which somebody waits. */
  busyZones(): readonly string[] {
    return [...this.#zones].filter(([, { waiting }]) => waiting.size > 0).map(([zone]) => zone);
  }

  /**
   * The next node of the zone, taken from the queue, if one may be tainted now. Those that `isDue` finds not to need it
   * any more are dropped and cost nothing.
   */
  takeNext(zone: string, nowMs: number, isDue: (node: string) => boolean): string | undefined {
    const known = this.#zones.get(zone);
    for (const node of known?.waiting ?? []) {
      if (isDue(node)) {
        if (known?.bucket?.tryTake(nowMs) !== true) return undefined;
        this.remove(node);
        return node;
      }
      this.remove(node);
    }
    return undefined;
  }
}

interface Zone {
  rate: number;
  /** Undefined: nothing is let through. */
  bucket: TokenBucket | undefined;
  readonly waiting: Set<string>;
}

function bucketOf(rate: number): TokenBucket | undefined {
  return rate > 0 ? new TokenBucket({ qps: rate, burst: 1 }) : undefined;
}
