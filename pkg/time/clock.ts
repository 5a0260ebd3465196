/** Time as an argument: rules get `now()`, waiting code gets the clock, tests bring their own. */
export interface Clock {
  /** Milliseconds since 1970. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary start. Never goes back: the one to measure and to judge leases by. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls back once after `ms`, unless cancelled. */
  setTimer(ms: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}
