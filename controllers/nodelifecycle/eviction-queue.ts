import { TokenBucket } from '../../pkg/time/index.ts';

/**
 * The nodes of each zone that wait for a NoExecute taint, in FIFO order, and the rate of each zone. A node waits in at
 * most one zone.
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

  /** Changes the rate. A zone without a token, or with rate 0, must also wait for its first token at the new rate. */
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

  /** Zones with waiting nodes. */
  busyZones(): readonly string[] {
    return [...this.#zones].filter(([, { waiting }]) => waiting.size > 0).map(([zone]) => zone);
  }

  /**
   * Takes the next node of the zone from the queue, if the rate allows one now. Nodes that are no longer due are dropped
   * and cost no token.
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
  /** Undefined if the rate is 0. */
  bucket: TokenBucket | undefined;
  readonly waiting: Set<string>;
}

function bucketOf(rate: number): TokenBucket | undefined {
  return rate > 0 ? new TokenBucket({ qps: rate, burst: 1 }) : undefined;
}
