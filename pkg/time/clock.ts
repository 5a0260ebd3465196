/** Time as an argument: rules get `now()`, code that waits gets the clock, tests pass a fake one. */
export interface Clock {
  /** Milliseconds since 1970. Jumps when the system time is set. */
  now(): number;
  /** Milliseconds from an arbitrary start. Never goes back: use it for durations and for leases. */
  monotonic(): number;
  /** Resolves after `ms`. Rejects with the signal's reason when the signal aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms`, unless cancelled. */
  setTimer(ms: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}
