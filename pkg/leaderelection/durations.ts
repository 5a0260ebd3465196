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

/** What the user knows the durations by. */
export type DurationNames = Readonly<Record<keyof ElectionDurations, string>>;

const flagNames: DurationNames = {
  leaseDurationMs: '--leader-elect-lease-duration',
  renewDeadlineMs: '--leader-elect-renew-deadline',
  retryPeriodMs: '--leader-elect-retry-period',
};

/** Throws `InvalidDurationsError` when an election with these durations is not safe. The message names the flag. */
export function checkDurations(durations: ElectionDurations, names: DurationNames = flagNames): void {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = durations;
  const refuse = (field: keyof ElectionDurations, rule: string): never => {
    throw new InvalidDurationsError(
      `invalid value "${formatDuration(durations[field])}" for ${names[field]}: must be ${rule}`,
    );
  };
  if (!(retryPeriodMs > 0)) refuse('retryPeriodMs', 'greater than zero');
  if (!(renewDeadlineMs > 0)) refuse('renewDeadlineMs', 'greater than zero');
  if (!(leaseDurationMs >= 1000)) refuse('leaseDurationMs', 'at least one second');
  if (!(renewDeadlineMs > retryPeriodMs * jitterFactor)) {
    refuse('renewDeadlineMs', `greater than ${jitterFactor} times ${names.retryPeriodMs}`);
  }
  // Candidates use the whole seconds in the lease. A deadline within the fraction would be after they may acquire it.
  if (!(leaseSeconds(durations) * 1000 > renewDeadlineMs)) {
    refuse('leaseDurationMs', `greater, in whole seconds, than ${names.renewDeadlineMs}`);
  }
}
