import { formatDuration } from '../time/index.ts';

export interface ElectionDurations {
  /** How long candidates wait after the last renewal they observed. The lease holds whole seconds. */
  readonly leaseDurationMs: number;
  /** A leader stops all work this long after its last successful renewal. */
  readonly renewDeadlineMs: number;
  /** The pause between two attempts to acquire or renew the lease. */
  readonly retryPeriodMs: number;
}

/** Candidates wait up to `1 + jitterFactor` retry periods, so that they do not keep writing at the same time. */
export const jitterFactor = 1.2;

export class InvalidDurationsError extends Error {
  override readonly name = 'InvalidDurationsError';
  readonly reason = 'InvalidDurations';
}

/** The duration in the lease, which the other candidates use. */
export function leaseSeconds({ leaseDurationMs }: Pick<ElectionDurations, 'leaseDurationMs'>): number {
  return Math.floor(leaseDurationMs / 1000);
}

/** Throws `InvalidDurationsError` when an election with these durations is not safe. The message names the flag. */
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
  // Candidates use the whole seconds in the lease. A deadline within the fraction would be after they may acquire it.
  if (!(leaseSeconds(durations) * 1000 > renewDeadlineMs)) {
    refuse('lease-duration', leaseDurationMs, 'greater, in whole seconds, than --leader-elect-renew-deadline');
  }
}
