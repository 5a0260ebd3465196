/**
 * Lets `qps` through each second on average, and up to `burst` at once. Knows no clock: the caller says what time it is
 * (monotonic milliseconds) and does the waiting.
 */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  /** Below zero, this many are promised to callers that still wait. */
  #tokens: number;
  #filledAtMs = Number.NEGATIVE_INFINITY;

  constructor({ qps, burst }: { readonly qps: number; readonly burst: number }) {
    if (!(qps > 0) || !(burst >= 1)) throw new Error(`token bucket: qps ${qps} and burst ${burst} let nothing through`);
    this.#perMs = qps / 1000;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Takes a token, now or from the future: how long the caller must wait before it may use it. First come, first served. */
  reserve(nowMs: number): number {
    this.#fill(nowMs);
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token only if there is one now. */
  tryTake(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Gives back a reserved token that will not be used. */
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
