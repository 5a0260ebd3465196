import { formatDuration } from '../time/index.ts';

export interface ElectionDurations {
  /** How long others leave a lease alone after its last renewal that they have seen. The lease holds whole seconds. */
  readonly leaseDurationMs: number;
  /** How long after its last successful renewal a leader stops all work. */
  readonly renewDeadlineMs: number;
  /** The pause between two tries. */
  readonly retryPeriodMs: number;
}

/** Candidates wait up to `1 + jitterFactor` retry periods, so that those who started together do not collide forever. */
export const jitterFactor = 1.2;

export class InvalidDurationsError extends Error {
  override readonly name = 'InvalidDurationsError';
  readonly reason = 'InvalidDurations';
}

/** What is written into the lease, and so what other candidates count by. */
export function leaseSeconds({ leaseDurationMs }: Pick<ElectionDurations, 'leaseDurationMs'>): number {
  return Math.floor(leaseDurationMs / 1000);
}

/** Throws `InvalidDurationsError`, one line that names the flag, when an election with these durations is not safe. */
export function checkDurations(durations: ElectionDurations): void {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = durations;
  const refuse = (flag: string, valueMs: number, rule: string): never => {
    throw new InvalidDurationsError(
      `invalid value "${formatDuration(valueMs)}" for --leader-elect-${flag}: must be ${rule}`,
    );
  };
  if (!(retryPeriodMs > 0)) refuse('retry-period', retryPeriodMs, 'greater than zero');
  if (!(renewDeadlineMs > 0)) refuse('renew-deadline', renewDeadlineMs, 'greater than zero');
  if (!(leaseDurationMs >= 1000)) refuse('lease-duration', leaseDurationMs, 'at least one second');
  if (!(renewDeadlineMs > retryPeriodMs * jitterFactor)) {
    refuse('renew-deadline', renewDeadlineMs, `greater than ${jitterFactor} times --leader-elect-retry-period`);
  }
  // Others count by the whole seconds in the lease: a deadline inside the fraction would come after they may take over.
  if (!(leaseSeconds(durations) * 1000 > renewDeadlineMs)) {
    refuse('lease-duration', leaseDurationMs, 'greater, in whole seconds, than --leader-elect-renew-deadline');
  }
}
