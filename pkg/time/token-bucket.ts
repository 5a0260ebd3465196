/**
 * Allows `qps` per second on average, and up to `burst` at once. Has no clock: the caller passes the time (monotonic
 * milliseconds) and waits itself.
 */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  /** Negative while callers wait for tokens that they have reserved. */
  #tokens: number;
  #filledAtMs = Number.NEGATIVE_INFINITY;

  constructor({ qps, burst }: { readonly qps: number; readonly burst: number }) {
    if (!(qps > 0) || !(burst >= 1))
      throw new RangeError(`token bucket: qps ${qps} and burst ${burst} let nothing through`);
    this.#perMs = qps / 1000;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Reserves the next token and returns how long the caller must wait before it may use it. First come, first served. */
  reserve(nowMs: number): number {
    this.#fill(nowMs);
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token if one is available now. */
  tryTake(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Returns a reserved token that will not be used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  #fill(nowMs: number): void {
    if (nowMs <= this.#filledAtMs) return;
    const elapsedMs = nowMs - this.#filledAtMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsedMs * this.#perMs);
    this.#filledAtMs = nowMs;
  }
}
